#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
// y = unit step; one invocation per element.

layout(local_size_x = 64) in;

struct Block {
    float16_t unit;
    int8_t steps[32];
};

layout(binding = 0) readonly buffer XBuffer { Block x[]; };
layout(binding = 1) writeonly buffer YBuffer { Y_TYPE y[]; };
layout(push_constant) uniform Push {
    uint len;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= len) {
        return;
    }
    y[i] = Y_TYPE(float(x[i / 32u].unit) * float(x[i / 32u].steps[i % 32u]));
}
