#version 450
// gx = (g - mean(g) - xhat * mean(g * xhat)) / deviation with g = gy * gamma, within each row; mean
// and deviation of x are kept for the gradients of gamma and beta. One workgroup per row, whose
// invocations take every WORKGROUP-th column; trees in shared memory add what they found.
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gamma { float gamma[]; };
layout(binding = 2) readonly buffer Gy { float gy[]; };
layout(binding = 3) writeonly buffer Gx { float gx[]; };
layout(binding = 4) writeonly buffer Mean { float mean[]; };
layout(binding = 5) writeonly buffer Deviation { float deviation[]; };
layout(push_constant) uniform Push { uint rows, cols; float eps; };

void main() {
    uint row = flat_workgroup();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols, start = first + gl_LocalInvocationID.x;
    float part = 0;
    for (uint i = start; i < end; i += WORKGROUP) part += x[i];
    float middle = workgroup_sum(part) / float(cols);
    part = 0;
    for (uint i = start; i < end; i += WORKGROUP) part += (x[i] - middle) * (x[i] - middle);
    float spread = sqrt(workgroup_sum(part) / float(cols) + eps);
    float plain = 0, weighted = 0;
    for (uint i = start; i < end; i += WORKGROUP) {
        float g = gy[i] * gamma[i - first];
        plain += g;
        weighted += g * ((x[i] - middle) / spread);
    }
    plain = workgroup_sum(plain) / float(cols);
    weighted = workgroup_sum(weighted) / float(cols);
    for (uint i = start; i < end; i += WORKGROUP) {
        float g = gy[i] * gamma[i - first];
        gx[i] = (g - plain - (x[i] - middle) / spread * weighted) / spread;
    }
    if (gl_LocalInvocationID.x == 0) {
        mean[row] = middle;
        deviation[row] = spread;
    }
}
