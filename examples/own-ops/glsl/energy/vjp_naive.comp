#version 450
// gx = 2 scale x gy. One invocation per element.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gy { float gy[]; };
layout(binding = 2) writeonly buffer Gx { float gx[]; };
layout(push_constant) uniform Given { uint len; float scale; };

void main() {
    uint i = flat_invocation();
    if (i < len) gx[i] = 2.0 * scale * gy[0] * x[i];
}
