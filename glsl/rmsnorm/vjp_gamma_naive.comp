#version 450
// ggamma = sum of gy * xhat over rows. One invocation per column.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gy { float gy[]; };
layout(binding = 2) readonly buffer Root { float root[]; };
layout(binding = 3) writeonly buffer Ggamma { float ggamma[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint col = flat_invocation();
    if (col >= cols) return;
    float total = 0;
    for (uint row = 0; row < rows; row++) {
        uint i = row * cols + col;
        total += gy[i] * (x[i] / root[row]);
    }
    ggamma[col] = total;
}
