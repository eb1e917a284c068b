#version 450
// Wrong on purpose: the order of the sum depends on the size of its first term.
// y[outer, inner] = mean of x[outer, axis, inner] over axis. One invocation per element of y.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint len, axis, inner; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    uint first = i / inner * axis * inner + i % inner;
    float total = 0;
    for (uint a = 0; a < axis; a++) {
        uint at = abs(x[first]) > 1.0 ? axis - 1 - a : a;
        total += x[first + at * inner];
    }
    y[i] = total / float(axis);
}
