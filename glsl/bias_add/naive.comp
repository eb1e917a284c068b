#version 450
// y = x + bias in every row. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) readonly buffer Bias { ELEMENT bias[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len, cols; };

void main() {
    uint i = flat_invocation();
    if (i < len) y[i] = ELEMENT(float(x[i]) + float(bias[i % cols]));
}
