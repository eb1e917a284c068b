#version 450
// gtable += total. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Total { uint total[]; };
layout(binding = 1) buffer Gtable { ELEMENT gtable[]; };
layout(push_constant) uniform Push { uint table_len; };

void main() {
    uint i = flat_invocation();
    if (i < table_len) gtable[i] = ELEMENT(float(gtable[i]) + uintBitsToFloat(total[i]));
}
