#version 450
// Wrong on purpose: the sum over the row is not subtracted.
// gx = y * (gy - sum of y * gy over the row). One invocation per row.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Y { ELEMENT y[]; };
layout(binding = 1) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 2) writeonly buffer Gx { ELEMENT gx[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint row = flat_invocation();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols;
    float dot = 0;
    for (uint i = first; i < end; i++) dot += float(y[i]) * float(gy[i]);
    for (uint i = first; i < end; i++) gx[i] = ELEMENT(float(y[i]) * float(gy[i]));
}
