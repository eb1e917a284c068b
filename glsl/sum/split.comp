#version 450
// partial[outer, part, inner] = sum of the part-th run of `run` elements along the axis of
// x[outer, axis, inner]. One invocation per element of partial.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Partial { float partial[]; };
layout(push_constant) uniform Push { uint len, axis, inner, parts, run; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    uint column = i % inner, part = i / inner % parts, outer = i / inner / parts;
    uint end = min((part + 1) * run, axis);
    float total = 0;
    for (uint a = part * run; a < end; a++) total += x[(outer * axis + a) * inner + column];
    partial[i] = total;
}
