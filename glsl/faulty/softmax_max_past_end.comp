#version 450
// Wrong on purpose: the maximum takes in one number behind the row.
// y = softmax of each row of x. One invocation per row.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint row = flat_invocation();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols;
    float top = float(x[first]);
    for (uint i = first + 1; i <= end; i++) top = max(top, float(x[i]));
    float total = 0;
    for (uint i = first; i < end; i++) total += exp(float(x[i]) - top);
    for (uint i = first; i < end; i++) y[i] = ELEMENT(exp(float(x[i]) - top) / total);
}
