#version 450
// part[w] = the sum of the squares of a span of x. One workgroup per span, SPAN elements for each
// of its invocations.
#include "reduce.glsl"
#include "square.glsl"
layout(constant_id = 1) const uint SPAN = 1;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Part { float part[]; };
layout(push_constant) uniform Given { uint len; };

void main() {
    uint first = flat_workgroup() * WORKGROUP * SPAN;
    // A spilled dispatch has workgroups past the last span; all of their invocations leave.
    if (first >= len) return;
    float sum = 0.0;
    for (uint step = 0; step < SPAN; step++) {
        uint i = first + step * WORKGROUP + gl_LocalInvocationID.x;
        if (i < len) sum += square(x[i]);
    }
    sum = workgroup_sum(sum);
    if (gl_LocalInvocationID.x == 0) part[flat_workgroup()] = sum;
}
