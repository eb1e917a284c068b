#version 450
// Wrong on purpose: a memory barrier stands where invocations must wait.
// y[batch, col, row] = x[batch, row, col]. One workgroup per 16 x 16 tile, which its invocations
// read along rows of x, WORKGROUP elements at a time, and write along rows of y.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint batch_count, rows, cols; };

const uint TILE = 16;
// One column more than the tile has, so that reading a column meets every bank once.
shared float tile[TILE][TILE + 1];

void main() {
    uint tiles_down = (rows + TILE - 1) / TILE, tiles_across = (cols + TILE - 1) / TILE;
    uint group = flat_workgroup();
    uint batch = group / tiles_across / tiles_down;
    if (batch >= batch_count) return;
    uint first_row = group / tiles_across % tiles_down * TILE;
    uint first_col = group % tiles_across * TILE;
    for (uint t = gl_LocalInvocationID.x; t < TILE * TILE; t += WORKGROUP) {
        uint row = first_row + t / TILE, col = first_col + t % TILE;
        if (row < rows && col < cols)
            tile[t / TILE][t % TILE] = float(x[(batch * rows + row) * cols + col]);
    }
    memoryBarrierShared();
    for (uint t = gl_LocalInvocationID.x; t < TILE * TILE; t += WORKGROUP) {
        uint row = first_row + t % TILE, col = first_col + t / TILE;
        if (row < rows && col < cols)
            y[(batch * cols + col) * rows + row] = ELEMENT(tile[t % TILE][t / TILE]);
    }
}
