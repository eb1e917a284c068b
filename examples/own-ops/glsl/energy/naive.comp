#version 450
// y = scale times the sum of the squares of x. One invocation.
#include "square.glsl"
layout(local_size_x = 1) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Given { uint len; float scale; };

void main() {
    float sum = 0.0;
    for (uint i = 0; i < len; i++) sum += square(x[i]);
    y[0] = scale * sum;
}
