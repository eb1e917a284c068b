#version 450
// Wrong on purpose: a fast subgroup loads the next tiles over those still in use.
// y = a b for every batch. One workgroup per TILE x TILE block of y, columns of blocks fastest,
// then rows, then batches; within it one invocation per element, columns fastest.
#include "element.glsl"
#include "flat.glsl"
layout(constant_id = 1) const uint TILE = 8; // TILE * TILE == WORKGROUP
layout(binding = 0) readonly buffer A { ELEMENT a[]; };
layout(binding = 1) readonly buffer B { ELEMENT b[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push {
    uint batch, m, n, k;
    uint a_row_stride, a_col_stride, b_row_stride, b_col_stride, y_row_stride, y_col_stride;
};
shared float a_tile[WORKGROUP];
shared float b_tile[WORKGROUP];

void main() {
    uint tile_rows = (m + TILE - 1) / TILE, tile_cols = (n + TILE - 1) / TILE;
    uint matrix = flat_workgroup() / (tile_rows * tile_cols);
    if (matrix >= batch) return; // The whole workgroup leaves, so the barriers stay uniform.
    uint local_row = gl_LocalInvocationID.x / TILE, local_col = gl_LocalInvocationID.x % TILE;
    uint row = flat_workgroup() / tile_cols % tile_rows * TILE + local_row;
    uint col = flat_workgroup() % tile_cols * TILE + local_col;
    uint a_at = matrix * (m * k) + row * a_row_stride;
    uint b_at = matrix * (k * n) + col * b_col_stride;
    float sum = 0;
    for (uint first = 0; first < k; first += TILE) {
        // What lies outside counts as zero, and so adds nothing.
        uint a_col = first + local_col, b_row = first + local_row;
        a_tile[gl_LocalInvocationID.x] =
            row < m && a_col < k ? float(a[a_at + a_col * a_col_stride]) : 0.0;
        b_tile[gl_LocalInvocationID.x] =
            b_row < k && col < n ? float(b[b_at + b_row * b_row_stride]) : 0.0;
        barrier();
        for (uint l = 0; l < TILE; l++) {
            sum += a_tile[local_row * TILE + l] * b_tile[l * TILE + local_col];
        }
    }
    if (row < m && col < n) {
        y[matrix * (m * n) + row * y_row_stride + col * y_col_stride] = ELEMENT(sum);
    }
}
