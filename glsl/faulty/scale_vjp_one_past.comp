#version 450
// Wrong on purpose: the guard lets one invocation past the end through.
// gx = alpha gy. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 1) writeonly buffer Gx { ELEMENT gx[]; };
layout(push_constant) uniform Push { uint len; float alpha; };

void main() {
    uint i = flat_invocation();
    if (i > len) return;
    gx[i] = ELEMENT(alpha * float(gy[i]));
}
