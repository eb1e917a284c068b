#version 450
// y = x + step. One invocation per element: little enough work that recording it is what costs.
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint len; float step_by; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < len) y[i] = x[i] + step_by;
}
