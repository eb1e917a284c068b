#version 450
// ggamma = sum of gy * xhat over rows, gbeta = sum of gy. One workgroup per column, whose
// invocations take every WORKGROUP-th row; trees in shared memory add what they found.
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gy { float gy[]; };
layout(binding = 2) readonly buffer Mean { float mean[]; };
layout(binding = 3) readonly buffer Deviation { float deviation[]; };
layout(binding = 4) writeonly buffer Ggamma { float ggamma[]; };
layout(binding = 5) writeonly buffer Gbeta { float gbeta[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint col = flat_workgroup();
    if (col >= cols) return;
    float weighted = 0, plain = 0;
    for (uint row = gl_LocalInvocationID.x; row < rows; row += WORKGROUP) {
        uint i = row * cols + col;
        weighted += gy[i] * ((x[i] - mean[row]) / deviation[row]);
        plain += gy[i];
    }
    weighted = workgroup_sum(weighted);
    plain = workgroup_sum(plain);
    if (gl_LocalInvocationID.x == 0) {
        ggamma[col] = weighted;
        gbeta[col] = plain;
    }
}
