#version 450
// Wrong on purpose: the cotangent is parked in the gradient before y is read again.
// gx = y * (gy - sum of y * gy over the row). One invocation per row.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Y { ELEMENT y[]; };
layout(binding = 1) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 2) buffer Gx { ELEMENT gx[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint row = flat_invocation();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols;
    float dot = 0;
    for (uint i = first; i < end; i++) {
        gx[i] = gy[i];
        dot += float(y[i]) * float(gx[i]);
    }
    for (uint i = first; i < end; i++) gx[i] = ELEMENT(float(y[i]) * (float(gy[i]) - dot));
}
