#version 450
// Wrong on purpose: the gradient of a broadcast row is that of the first row alone.
// gb = gy summed over what b was broadcast over. One invocation per element of gb.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 1) writeonly buffer Gb { ELEMENT gb[]; };
layout(push_constant) uniform Push { uint narrow_len, rows, cols, b_row_stride, b_col_stride; };

void main() {
    uint j = flat_invocation();
    if (j >= narrow_len) return;
    // The rows and columns that this element served: one of each where b had a stride there.
    uint narrow_cols = b_col_stride == 0 ? 1 : cols;
    uint row_first = b_row_stride == 0 ? 0 : j / narrow_cols;
    uint row_end = b_row_stride == 0 ? 1 : row_first + 1;
    uint col_first = b_col_stride == 0 ? 0 : j % narrow_cols;
    uint col_end = b_col_stride == 0 ? cols : col_first + 1;
    float sum = 0;
    for (uint row = row_first; row < row_end; row++) {
        for (uint col = col_first; col < col_end; col++) sum += float(gy[row * cols + col]);
    }
    gb[j] = ELEMENT(sum);
}
