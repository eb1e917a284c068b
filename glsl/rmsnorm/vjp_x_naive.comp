#version 450
// gx = (g - xhat * mean(g * xhat)) / root with g = gy * gamma, within each row; the root is
// kept for the gradient of gamma. One invocation per row.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gamma { float gamma[]; };
layout(binding = 2) readonly buffer Gy { float gy[]; };
layout(binding = 3) writeonly buffer Gx { float gx[]; };
layout(binding = 4) writeonly buffer Root { float root[]; };
layout(push_constant) uniform Push { uint rows, cols; float eps; };

void main() {
    uint row = flat_invocation();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols;
    float squares = 0;
    for (uint i = first; i < end; i++) squares += x[i] * x[i];
    float norm = sqrt(squares / float(cols) + eps);
    float weighted = 0;
    for (uint i = first; i < end; i++) weighted += gy[i] * gamma[i - first] * (x[i] / norm);
    weighted /= float(cols);
    for (uint i = first; i < end; i++)
        gx[i] = (gy[i] * gamma[i - first] - x[i] / norm * weighted) / norm;
    root[row] = norm;
}
