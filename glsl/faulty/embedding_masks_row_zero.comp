#version 450
// Wrong on purpose: index 0 is taken for padding.
// y[i] = table[index[i]], row by row. One invocation per element of y.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Table { ELEMENT table[]; };
layout(binding = 1) readonly buffer Index { uint index[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint len, width; };

void main() {
    uint i = flat_invocation();
    if (i < len) {
        uint row = index[i / width];
        y[i] = row == 0 ? ELEMENT(0) : table[row * width + i % width];
    }
}
