#version 450
// partial = gy summed over each chunk of rows. One invocation per chunk and column.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 1) writeonly buffer Partial { float partial[]; };
layout(push_constant) uniform Push { uint rows, cols, chunk_rows, partial_len; };

void main() {
    uint i = flat_invocation();
    if (i >= partial_len) return;
    uint col = i % cols, first = i / cols * chunk_rows;
    float sum = 0;
    for (uint row = first; row < min(first + chunk_rows, rows); row++) {
        sum += float(gy[row * cols + col]);
    }
    partial[i] = sum;
}
