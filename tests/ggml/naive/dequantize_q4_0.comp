#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
// y = unit (step - 8), steps of 4 bits: low halves first, then high; one invocation per element.

layout(local_size_x = 64) in;

struct Block {
    float16_t unit;
    uint8_t pairs[16];
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
    uint block = i / 32u;
    uint at = i % 32u;
    uint pair = uint(x[block].pairs[at % 16u]);
    uint code = at < 16u ? pair % 16u : pair / 16u;
    y[i] = Y_TYPE(float(x[block].unit) * (float(code) - 8.0));
}
