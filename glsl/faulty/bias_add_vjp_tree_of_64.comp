#version 450
// Wrong on purpose: the tree is that of 64 invocations.
// gbias = gy summed over rows. One workgroup per column, whose invocations
// stride over the rows.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) readonly buffer Gy { ELEMENT gy[]; };
layout(binding = 1) writeonly buffer Gbias { ELEMENT gbias[]; };
layout(push_constant) uniform Push { uint rows, cols; };
shared float partial[WORKGROUP];

void main() {
    uint col = flat_workgroup(), lane = gl_LocalInvocationID.x;
    if (col >= cols) return;
    float sum = 0;
    for (uint row = lane; row < rows; row += WORKGROUP) sum += float(gy[row * cols + col]);
    partial[lane] = sum;
    barrier();
    for (uint half_width = 32; half_width > 0; half_width /= 2) {
        if (lane < half_width) partial[lane] += partial[lane + half_width];
        barrier();
    }
    if (lane == 0) gbias[col] = ELEMENT(partial[0]);
}
