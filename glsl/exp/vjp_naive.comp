#version 450
// gx = gy y, since e^x is its own derivative. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Y { ELEMENT y[]; };
layout(binding = 1) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 2) writeonly buffer Gx { ELEMENT gx[]; };
layout(push_constant) uniform Push { uint len; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    gx[i] = ELEMENT(float(gy[i]) * float(y[i]));
}
