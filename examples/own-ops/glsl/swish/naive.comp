#version 450
// y = swish of x. One invocation per element.
#include "each.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    y[i] = 0.5 * x[i] * (1.0 + tanh(clamp(0.5 * x[i], -15.0, 15.0)));
}
