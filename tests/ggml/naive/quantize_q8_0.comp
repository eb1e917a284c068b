#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
// Blocks of 32: steps of a 127th of the largest absolute value; one invocation per block.

layout(local_size_x = 64) in;

struct Block {
    float16_t unit;
    int8_t steps[32];
};

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { Block y[]; };
layout(push_constant) uniform Push {
    uint blocks;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= blocks) {
        return;
    }
    float top = 0.0;
    for (uint j = 0u; j < 32u; j++) {
        top = max(top, abs(x[32u * i + j]));
    }
    float unit = top / 127.0;
    y[i].unit = float16_t(unit);
    for (uint j = 0u; j < 32u; j++) {
        y[i].steps[j] = int8_t(unit == 0.0 ? 0.0 : round(x[32u * i + j] / unit));
    }
}
