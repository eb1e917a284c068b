#version 450
// y = a b for every batch. One workgroup per square block of y that is 4 SIDE wide, columns of
// blocks fastest, then rows, then batches. Invocation (r, c) of its SIDE x SIDE grid computes the
// 16 elements in rows r + i SIDE and columns c + j SIDE of the block, so that neighbours read
// neighbours.
#include "element.glsl"
#include "flat.glsl"
layout(constant_id = 1) const uint SIDE = 8; // SIDE * SIDE == WORKGROUP
const uint REGISTERS = 4;                    // elements of y along each axis of an invocation
const uint TILE = SIDE * REGISTERS;          // elements of y along each axis of a workgroup
const uint DEPTH = 8;                        // columns of a and rows of b in shared memory at once
layout(binding = 0) readonly buffer A { ELEMENT a[]; };
layout(binding = 1) readonly buffer B { ELEMENT b[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push {
    uint batch, m, n, k;
    uint a_row_stride, a_col_stride, b_row_stride, b_col_stride, y_row_stride, y_col_stride;
};
shared float a_tile[TILE * DEPTH]; // [row of the block][depth]
shared float b_tile[DEPTH * TILE]; // [depth][column of the block]

void main() {
    uint tile_rows = (m + TILE - 1) / TILE, tile_cols = (n + TILE - 1) / TILE;
    uint matrix = flat_workgroup() / (tile_rows * tile_cols);
    if (matrix >= batch) return; // The whole workgroup leaves, so the barriers stay uniform.
    uint first_row = flat_workgroup() / tile_cols % tile_rows * TILE;
    uint first_col = flat_workgroup() % tile_cols * TILE;
    uint local_row = gl_LocalInvocationID.x / SIDE, local_col = gl_LocalInvocationID.x % SIDE;

    float sums[REGISTERS][REGISTERS];
    for (uint i = 0; i < REGISTERS; i++) {
        for (uint j = 0; j < REGISTERS; j++) sums[i][j] = 0;
    }
    for (uint first = 0; first < k; first += DEPTH) {
        // What lies outside counts as zero, and so adds nothing.
        for (uint i = gl_LocalInvocationID.x; i < TILE * DEPTH; i += WORKGROUP) {
            uint row = first_row + i / DEPTH, a_col = first + i % DEPTH;
            uint at = matrix * (m * k) + row * a_row_stride + a_col * a_col_stride;
            a_tile[i] = row < m && a_col < k ? float(a[at]) : 0.0;
        }
        for (uint i = gl_LocalInvocationID.x; i < TILE * DEPTH; i += WORKGROUP) {
            uint b_row = first + i / TILE, col = first_col + i % TILE;
            uint at = matrix * (k * n) + b_row * b_row_stride + col * b_col_stride;
            b_tile[i] = b_row < k && col < n ? float(b[at]) : 0.0;
        }
        barrier();
        for (uint l = 0; l < DEPTH; l++) {
            float column[REGISTERS];
            for (uint i = 0; i < REGISTERS; i++) {
                column[i] = a_tile[(local_row + i * SIDE) * DEPTH + l];
            }
            for (uint j = 0; j < REGISTERS; j++) {
                float right = b_tile[l * TILE + local_col + j * SIDE];
                for (uint i = 0; i < REGISTERS; i++) sums[i][j] += column[i] * right;
            }
        }
        barrier();
    }
    for (uint i = 0; i < REGISTERS; i++) {
        for (uint j = 0; j < REGISTERS; j++) {
            uint row = first_row + local_row + i * SIDE, col = first_col + local_col + j * SIDE;
            if (row < m && col < n) {
                uint at = matrix * (m * n) + row * y_row_stride + col * y_col_stride;
                y[at] = ELEMENT(sums[i][j]);
            }
        }
    }
}
