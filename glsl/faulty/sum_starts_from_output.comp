#version 450
// Wrong on purpose: the sum starts where the unwritten output says.
// y[outer, inner] = sum of x[outer, axis, inner] over axis. One invocation per element of y.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform Push { uint len, axis, inner; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    uint first = i / inner * axis * inner + i % inner;
    float total = 0;
    for (uint a = 0; a < axis; a++) total += x[first + (y[i] > 0.0 ? axis - 1 - a : a) * inner];
    y[i] = total;
}
