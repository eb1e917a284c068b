#version 450
// gbias = gy summed over rows. One invocation per column.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 1) writeonly buffer Gbias { ELEMENT gbias[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint col = flat_invocation();
    if (col >= cols) return;
    float sum = 0;
    for (uint row = 0; row < rows; row++) sum += float(gy[row * cols + col]);
    gbias[col] = ELEMENT(sum);
}
