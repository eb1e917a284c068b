#version 450
// Wrong on purpose: the sum is cut to the mantissa of half precision.
// y = a b for every batch. One invocation per element of y, columns fastest.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer A { ELEMENT a[]; };
layout(binding = 1) readonly buffer B { ELEMENT b[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push {
    uint batch, m, n, k;
    uint a_row_stride, a_col_stride, b_row_stride, b_col_stride, y_row_stride, y_col_stride;
};

void main() {
    uint i = flat_invocation();
    if (i >= batch * m * n) return;
    uint matrix = i / (m * n), row = i / n % m, col = i % n;
    uint a_at = matrix * (m * k) + row * a_row_stride;
    uint b_at = matrix * (k * n) + col * b_col_stride;
    float sum = 0;
    for (uint l = 0; l < k; l++) {
        sum += float(a[a_at + l * a_col_stride]) * float(b[b_at + l * b_row_stride]);
        sum = uintBitsToFloat(floatBitsToUint(sum) & 0xffffe000);
    }
    y[matrix * (m * n) + row * y_row_stride + col * y_col_stride] = ELEMENT(sum);
}
