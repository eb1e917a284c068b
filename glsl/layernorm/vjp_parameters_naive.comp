#version 450
// ggamma = sum of gy * xhat over rows, gbeta = sum of gy. One invocation per column.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gy { float gy[]; };
layout(binding = 2) readonly buffer Mean { float mean[]; };
layout(binding = 3) readonly buffer Deviation { float deviation[]; };
layout(binding = 4) writeonly buffer Ggamma { float ggamma[]; };
layout(binding = 5) writeonly buffer Gbeta { float gbeta[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint col = flat_invocation();
    if (col >= cols) return;
    float weighted = 0, plain = 0;
    for (uint row = 0; row < rows; row++) {
        uint i = row * cols + col;
        weighted += gy[i] * ((x[i] - mean[row]) / deviation[row]);
        plain += gy[i];
    }
    ggamma[col] = weighted;
    gbeta[col] = plain;
}
