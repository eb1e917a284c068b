#version 450
// Wrong on purpose: epsilon is added outside the root.
// y = (x - mean) / sqrt(variance + eps) * gamma + beta within each row. One workgroup per row,
// whose invocations take every WORKGROUP-th column; trees in shared memory add what they found.
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gamma { float gamma[]; };
layout(binding = 2) readonly buffer Beta { float beta[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint rows, cols; float eps; };

void main() {
    uint row = flat_workgroup();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols, start = first + gl_LocalInvocationID.x;
    float part = 0;
    for (uint i = start; i < end; i += WORKGROUP) part += x[i];
    float mean = workgroup_sum(part) / float(cols);
    part = 0;
    for (uint i = start; i < end; i += WORKGROUP) part += (x[i] - mean) * (x[i] - mean);
    float deviation = sqrt(workgroup_sum(part) / float(cols)) + eps;
    for (uint i = start; i < end; i += WORKGROUP)
        y[i] = (x[i] - mean) / deviation * gamma[i - first] + beta[i - first];
}
