#version 450
// Wrong on purpose: one element past the end is written by workgroups of 256.
// y = max(x, 0), where a NaN stays a NaN. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len; };

void main() {
    uint i = flat_invocation();
    if (i >= len) {
        if (WORKGROUP == 256 && i == len) y[i] = ELEMENT(0.0);
        return;
    }
    float value = float(x[i]);
    y[i] = ELEMENT(value < 0.0 ? 0.0 : value);
}
