#version 450
// partials[slice] = a b over one slice of the inner axis, for every batch. One invocation per
// element of partials, columns fastest, then rows, batches and slices.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer A { ELEMENT a[]; };
layout(binding = 1) readonly buffer B { ELEMENT b[]; };
layout(binding = 2) writeonly buffer Partials { float partials[]; };
layout(push_constant) uniform Push {
    uint batch, m, n, k, slices, slice_len;
    uint a_row_stride, a_col_stride, b_row_stride, b_col_stride;
};

void main() {
    uint i = flat_invocation();
    if (i >= slices * batch * m * n) return;
    uint slice = i / (batch * m * n), matrix = i / (m * n) % batch, row = i / n % m, col = i % n;
    uint a_at = matrix * (m * k) + row * a_row_stride;
    uint b_at = matrix * (k * n) + col * b_col_stride;
    float sum = 0;
    for (uint l = slice * slice_len; l < min((slice + 1) * slice_len, k); l++) {
        sum += float(a[a_at + l * a_col_stride]) * float(b[b_at + l * b_row_stride]);
    }
    partials[i] = sum;
}
