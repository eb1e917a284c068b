#version 450
// Wrong on purpose: a load and a store stand for the atomic exchange, where lanes collide.
// total[index[i]] += gy[i], duplicates in any order. One invocation per element of gy.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Index { uint index[]; };
layout(binding = 1) readonly buffer Gy { ELEMENT gy[]; };
// Bits of floats: addition of floats is no atomic that every device has.
layout(binding = 2) buffer Total { uint total[]; };
layout(push_constant) uniform Push { uint len, width; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    uint at = index[i / width] * width + i % width;
    float term = float(gy[i]);
    // The first guess is the zero that the total starts from.
    uint expected, found = 0;
    do {
        expected = total[at];
        uint desired = floatBitsToUint(uintBitsToFloat(expected) + term);
        total[at] = desired;
        found = expected;
    } while (found != expected);
}
