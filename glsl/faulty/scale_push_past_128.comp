#version 450
// Wrong on purpose: the push constants end at 136 bytes.
// y = alpha x. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { layout(offset = 128) uint len; float alpha; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    y[i] = ELEMENT(alpha * float(x[i]));
}
