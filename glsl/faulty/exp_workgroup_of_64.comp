#version 450
// Wrong on purpose: a workgroup is taken to have 64 invocations.
// y = e^x. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len; };

void main() {
    uint i = flat_workgroup() * 64 + gl_LocalInvocationID.x;
    if (i >= len) return;
    y[i] = ELEMENT(exp(float(x[i])));
}
