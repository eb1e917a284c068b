#version 450
// gx = y * (gy - sum of y * gy over the row). One workgroup per row, whose invocations take every
// WORKGROUP-th column; a tree in shared memory adds what they found.
#include "element.glsl"
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer Y { ELEMENT y[]; };
layout(binding = 1) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 2) writeonly buffer Gx { ELEMENT gx[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint row = flat_workgroup();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols, start = first + gl_LocalInvocationID.x;
    float part = 0;
    for (uint i = start; i < end; i += WORKGROUP) part += float(y[i]) * float(gy[i]);
    float dot = workgroup_sum(part);
    for (uint i = start; i < end; i += WORKGROUP)
        gx[i] = ELEMENT(float(y[i]) * (float(gy[i]) - dot));
}
