#version 450
// y = GeLU of x through erf. One invocation per four consecutive elements.
#include "element.glsl"
#include "flat.glsl"
#include "gelu.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len; };

void main() {
    uint first = flat_invocation() * 4;
    if (first >= len) return;
    for (uint i = first; i < min(first + 4, len); i++) {
        y[i] = ELEMENT(gelu_erf(float(x[i])));
    }
}
