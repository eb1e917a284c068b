#version 450
// Wrong on purpose: the row is left out of the index into b.
// y = a + b with b broadcast. One invocation per element of y.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer A { ELEMENT a[]; };
layout(binding = 1) readonly buffer B { ELEMENT b[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len, cols, b_row_stride, b_col_stride; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    uint j = i % cols * b_col_stride;
    y[i] = ELEMENT(float(a[i]) + float(b[j]));
}
