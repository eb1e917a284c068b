#version 450
// Wrong on purpose: rows are taken to be as long as columns.
// y[batch, col, row] = x[batch, row, col]. One invocation per element of y.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len, rows, cols; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    uint row = i % rows, col = i / rows % cols, batch = i / rows / cols;
    y[i] = x[(batch * rows + row) * rows + col];
}
