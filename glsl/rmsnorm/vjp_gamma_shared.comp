#version 450
// ggamma = sum of gy * xhat over rows. One workgroup per column, whose invocations take every
// WORKGROUP-th row; a tree in shared memory adds what they found.
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gy { float gy[]; };
layout(binding = 2) readonly buffer Root { float root[]; };
layout(binding = 3) writeonly buffer Ggamma { float ggamma[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint col = flat_workgroup();
    if (col >= cols) return;
    float part = 0;
    for (uint row = gl_LocalInvocationID.x; row < rows; row += WORKGROUP) {
        uint i = row * cols + col;
        part += gy[i] * (x[i] / root[row]);
    }
    float total = workgroup_sum(part);
    if (gl_LocalInvocationID.x == 0) ggamma[col] = total;
}
