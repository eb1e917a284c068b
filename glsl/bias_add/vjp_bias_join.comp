#version 450
// gbias = partial summed over chunks. One invocation per column.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Partial { float partial[]; };
layout(binding = 1) writeonly buffer Gbias { ELEMENT gbias[]; };
layout(push_constant) uniform Push { uint chunks, cols; };

void main() {
    uint col = flat_invocation();
    if (col >= cols) return;
    float sum = 0;
    for (uint chunk = 0; chunk < chunks; chunk++) sum += partial[chunk * cols + col];
    gbias[col] = ELEMENT(sum);
}
