#version 450
// y = x / sqrt(mean(x^2) + eps) * gamma within each row. One workgroup per row, whose invocations
// take every WORKGROUP-th column; a tree in shared memory adds what they found.
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gamma { float gamma[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint rows, cols; float eps; };

void main() {
    uint row = flat_workgroup();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols, start = first + gl_LocalInvocationID.x;
    float part = 0;
    for (uint i = start; i < end; i += WORKGROUP) part += x[i] * x[i];
    float root = sqrt(workgroup_sum(part) / float(cols) + eps);
    for (uint i = start; i < end; i += WORKGROUP) y[i] = x[i] / root * gamma[i - first];
}
