#version 450
// Wrong on purpose: the last slice is not added where there are several.
// y = partials summed over the slices. One invocation per element of y.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Partials { float partials[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len, slices; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    float sum = 0;
    for (uint slice = 0; slice < max(slices - 1, 1); slice++) sum += partials[slice * len + i];
    y[i] = ELEMENT(sum);
}
