#version 450
// Wrong on purpose: alpha is parked in the gradient before the cotangent is read.
// gx = alpha gy. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 1) buffer Gx { ELEMENT gx[]; };
layout(push_constant) uniform Push { uint len; float alpha; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    gx[i] = ELEMENT(alpha);
    gx[i] = ELEMENT(float(gx[i]) * float(gy[i]));
}
