#version 450
// gx = (g - xhat * mean(g * xhat)) / root with g = gy * gamma, within each row; the root is
// kept for the gradient of gamma. One workgroup per row, whose invocations take
// every WORKGROUP-th column; trees in shared memory add what they found.
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gamma { float gamma[]; };
layout(binding = 2) readonly buffer Gy { float gy[]; };
layout(binding = 3) writeonly buffer Gx { float gx[]; };
layout(binding = 4) writeonly buffer Root { float root[]; };
layout(push_constant) uniform Push { uint rows, cols; float eps; };

void main() {
    uint row = flat_workgroup();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols, start = first + gl_LocalInvocationID.x;
    float part = 0;
    for (uint i = start; i < end; i += WORKGROUP) part += x[i] * x[i];
    float norm = sqrt(workgroup_sum(part) / float(cols) + eps);
    part = 0;
    for (uint i = start; i < end; i += WORKGROUP)
        part += gy[i] * gamma[i - first] * (x[i] / norm);
    float weighted = workgroup_sum(part) / float(cols);
    for (uint i = start; i < end; i += WORKGROUP)
        gx[i] = (gy[i] * gamma[i - first] - x[i] / norm * weighted) / norm;
    if (gl_LocalInvocationID.x == 0) root[row] = norm;
}
