#version 450
// Wrong on purpose: b is parked in the output before a is read.
// y = a + b with b broadcast. One invocation per element of y.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer A { ELEMENT a[]; };
layout(binding = 1) readonly buffer B { ELEMENT b[]; };
layout(binding = 2) buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len, cols, b_row_stride, b_col_stride; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    uint j = i / cols * b_row_stride + i % cols * b_col_stride;
    y[i] = b[j];
    y[i] = ELEMENT(float(a[i]) + float(y[i]));
}
