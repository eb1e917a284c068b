#version 450
// Wrong on purpose: the gradient of a is made of a.
// ga = gy b with b broadcast. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer A { ELEMENT a[]; };
layout(binding = 1) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 2) writeonly buffer Ga { ELEMENT ga[]; };
layout(push_constant) uniform Push { uint len, cols, b_row_stride, b_col_stride; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    uint j = i / cols * b_row_stride + i % cols * b_col_stride;
    ga[i] = ELEMENT(float(gy[i]) * float(a[i]));
}
