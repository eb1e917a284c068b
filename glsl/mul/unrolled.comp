#version 450
// y = a b with b broadcast. One invocation per four consecutive elements of y.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer A { ELEMENT a[]; };
layout(binding = 1) readonly buffer B { ELEMENT b[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len, cols, b_row_stride, b_col_stride; };

void main() {
    uint first = flat_invocation() * 4;
    if (first >= len) return;
    uint row = first / cols, col = first % cols;
    for (uint i = first; i < min(first + 4, len); i++) {
        y[i] = ELEMENT(float(a[i]) * float(b[row * b_row_stride + col * b_col_stride]));
        if (++col == cols) {
            col = 0;
            row++;
        }
    }
}
