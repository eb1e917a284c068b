#version 450
// y[outer, inner] = mean of x[outer, axis, inner] over axis. One workgroup per element of y: each
// invocation adds every WORKGROUP-th term, a tree in shared memory adds those.
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint len, axis, inner; };

void main() {
    uint i = flat_workgroup();
    if (i >= len) return;
    uint first = i / inner * axis * inner + i % inner;
    float part = 0;
    for (uint a = gl_LocalInvocationID.x; a < axis; a += WORKGROUP) part += x[first + a * inner];
    float total = workgroup_sum(part);
    if (gl_LocalInvocationID.x == 0) y[i] = total / float(axis);
}
