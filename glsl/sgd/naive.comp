#version 450
// p -= lr (g + decay p). One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) buffer P { ELEMENT p[]; };
layout(binding = 1) readonly buffer G { ELEMENT g[]; };
layout(push_constant) uniform Push { uint len; float lr, decay; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    p[i] = ELEMENT(float(p[i]) - lr * (float(g[i]) + decay * float(p[i])));
}
