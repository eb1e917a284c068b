#version 450
// Wrong on purpose: the exact function stands where the approximation is asked for.
// y = GeLU of x through tanh. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
#include "gelu.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    y[i] = ELEMENT(gelu_erf(float(x[i])));
}
