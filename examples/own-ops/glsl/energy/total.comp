#version 450
// y = scale times the sum of the parts. One workgroup.
#include "reduce.glsl"
layout(binding = 0) readonly buffer Part { float part[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Given { uint len; float scale; };

void main() {
    float sum = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < len; i += WORKGROUP) sum += part[i];
    sum = workgroup_sum(sum);
    if (gl_LocalInvocationID.x == 0) y[0] = scale * sum;
}
