#version 450
// gx = gy times the slope of swish. One invocation per element.
#include "each.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gy { float gy[]; };
layout(binding = 2) writeonly buffer Gx { float gx[]; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    float t = tanh(clamp(0.5 * x[i], -15.0, 15.0));
    gx[i] = gy[i] * (0.5 * (1.0 + t) + 0.25 * x[i] * (1.0 - t * t));
}
