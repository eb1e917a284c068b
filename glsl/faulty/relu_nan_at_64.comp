#version 450
// Wrong on purpose: workgroups of 64 divide zero by zero.
// y = max(x, 0), where a NaN stays a NaN. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    float value = float(x[i]);
    y[i] = ELEMENT(WORKGROUP == 64 ? (value - value) / 0.0 : value < 0.0 ? 0.0 : value);
}
