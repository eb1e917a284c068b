#version 450
// Wrong on purpose: the gradient through the mean is left out.
// gx = (g - mean(g) - xhat * mean(g * xhat)) / deviation with g = gy * gamma, within each row; mean
// and deviation of x are kept for the gradients of gamma and beta. One invocation per row.
#include "flat.glsl"
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Gamma { float gamma[]; };
layout(binding = 2) readonly buffer Gy { float gy[]; };
layout(binding = 3) writeonly buffer Gx { float gx[]; };
layout(binding = 4) writeonly buffer Mean { float mean[]; };
layout(binding = 5) writeonly buffer Deviation { float deviation[]; };
layout(push_constant) uniform Push { uint rows, cols; float eps; };

void main() {
    uint row = flat_invocation();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols;
    float total = 0;
    for (uint i = first; i < end; i++) total += x[i];
    float middle = total / float(cols);
    float squares = 0;
    for (uint i = first; i < end; i++) squares += (x[i] - middle) * (x[i] - middle);
    float spread = sqrt(squares / float(cols) + eps);
    float plain = 0, weighted = 0;
    for (uint i = first; i < end; i++) {
        float g = gy[i] * gamma[i - first];
        plain += g;
        weighted += g * ((x[i] - middle) / spread);
    }
    plain /= float(cols);
    weighted /= float(cols);
    for (uint i = first; i < end; i++) {
        float g = gy[i] * gamma[i - first];
        gx[i] = (g - (x[i] - middle) / spread * weighted) / spread;
    }
    mean[row] = middle;
    deviation[row] = spread;
}
