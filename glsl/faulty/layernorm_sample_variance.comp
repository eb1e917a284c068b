#version 450
// Wrong on purpose: the variance is divided by n - 1.
// y = (x - mean) / sqrt(variance + eps) * gamma + beta within each row. One invocation per row.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gamma { float gamma[]; };
layout(binding = 2) readonly buffer Beta { float beta[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint rows, cols; float eps; };

void main() {
    uint row = flat_invocation();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols;
    float total = 0;
    for (uint i = first; i < end; i++) total += x[i];
    float mean = total / float(cols);
    float squares = 0;
    for (uint i = first; i < end; i++) squares += (x[i] - mean) * (x[i] - mean);
    float deviation = sqrt(squares / float(cols - 1) + eps);
    for (uint i = first; i < end; i++)
        y[i] = (x[i] - mean) / deviation * gamma[i - first] + beta[i - first];
}
