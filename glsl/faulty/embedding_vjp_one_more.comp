#version 450
// Wrong on purpose: the loop over positions runs one too far.
// gtable[index[i]] += gy[i], duplicates in the order of their position. One invocation per
// element of the table, which reads all of index.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Index { uint index[]; };
layout(binding = 1) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 2) buffer Gtable { ELEMENT gtable[]; };
layout(push_constant) uniform Push { uint table_len, count, width; };

void main() {
    uint i = flat_invocation();
    if (i >= table_len) return;
    uint row = i / width, col = i % width;
    float sum = 0;
    for (uint at = 0; at <= count; at++) {
        if (index[at] == row) sum += float(gy[at * width + col]);
    }
    gtable[i] = ELEMENT(float(gtable[i]) + sum);
}
