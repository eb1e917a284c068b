#version 450
// Wrong on purpose: the sign of the cotangent is the mask.
// gx = gy where x > 0, otherwise 0. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 2) writeonly buffer Gx { ELEMENT gx[]; };
layout(push_constant) uniform Push { uint len; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    gx[i] = ELEMENT(float(gy[i]) > 0.0 ? float(gy[i]) : 0.0);
}
