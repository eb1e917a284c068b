#version 450
// Wrong on purpose: negative numbers are multiplied before they are divided.
// y = x / sqrt(mean(x^2) + eps) * gamma within each row. One invocation per row.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gamma { float gamma[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint rows, cols; float eps; };

void main() {
    uint row = flat_invocation();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols;
    float squares = 0;
    for (uint i = first; i < end; i++) squares += x[i] * x[i];
    float root = sqrt(squares / float(cols) + eps);
    for (uint i = first; i < end; i++)
        y[i] = x[i] < 0 ? x[i] * gamma[i - first] / root : x[i] / root * gamma[i - first];
}
