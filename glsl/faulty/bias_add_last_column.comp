#version 450
// Wrong on purpose: the loop over the columns ends one early.
// y = x + bias in every row. One workgroup per row, whose invocations stride over the columns.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) readonly buffer Bias { ELEMENT bias[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint row = flat_workgroup();
    if (row >= rows) return;
    for (uint col = gl_LocalInvocationID.x; col + 1 < cols; col += WORKGROUP) {
        y[row * cols + col] = ELEMENT(float(x[row * cols + col]) + float(bias[col]));
    }
}
