#version 450
// Wrong on purpose: a row is kept in 40 KiB of shared memory.
// y = softmax of each row of x. One workgroup per row, whose invocations take every WORKGROUP-th
// column; trees in shared memory find the maximum and the sum.
#include "element.glsl"
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint rows, cols; };
shared float kept[10240];

void main() {
    uint row = flat_workgroup();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols, start = first + gl_LocalInvocationID.x;
    // An invocation without a column must not bring a number that the row doesn't have.
    float top = float(x[first]);
    for (uint i = start; i < end; i += WORKGROUP) top = max(top, float(x[i]));
    top = workgroup_max(top);
    float part = 0;
    for (uint i = start; i < end; i += WORKGROUP) part += kept[i - first] = exp(float(x[i]) - top);
    float total = workgroup_sum(part);
    for (uint i = start; i < end; i += WORKGROUP) y[i] = ELEMENT(kept[i - first] / total);
}
