#version 450
// Wrong on purpose: the cotangent is looked up by the column alone.
// gx[outer, axis, inner] = gy[outer, inner] / axis. One invocation per element of gx.
#include "flat.glsl"
layout(binding = 0) readonly buffer Gy { float gy[]; };
layout(binding = 1) writeonly buffer Gx { float gx[]; };
layout(push_constant) uniform Push { uint len, axis, inner; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    gx[i] = gy[i % inner] / float(axis);
}
