#version 450
// y[i] = table[index[i]], row by row. One workgroup per row of y, whose
// invocations stride over the width.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Table { ELEMENT table[]; };
layout(binding = 1) readonly buffer Index { uint index[]; };
layout(binding = 2) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint count, width; };

void main() {
    uint row = flat_workgroup();
    if (row >= count) return;
    uint from = index[row] * width, to = row * width;
    for (uint col = gl_LocalInvocationID.x; col < width; col += WORKGROUP) {
        y[to + col] = table[from + col];
    }
}
