#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
// y = unit scale step - least minimum, 8 sub-blocks of 32; one invocation per element.

layout(local_size_x = 64) in;

struct Block {
    float16_t unit;
    float16_t least;
    uint8_t scales[12];
    uint8_t pairs[128];
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
    uint block = i / 256u;
    uint sub = i / 32u % 8u;
    // Six bits each: the first four sub-blocks have bytes of their own, whose top two bits are the top
    // two of the other four.
    uint scale;
    uint minimum;
    if (sub < 4u) {
        scale = uint(x[block].scales[sub]) % 64u;
        minimum = uint(x[block].scales[sub + 4u]) % 64u;
    } else {
        uint low = uint(x[block].scales[sub + 4u]);
        scale = low % 16u + uint(x[block].scales[sub - 4u]) / 64u * 16u;
        minimum = low / 16u + uint(x[block].scales[sub]) / 64u * 16u;
    }
    // Two sub-blocks share 32 bytes: the even one has the low halves.
    uint pair = uint(x[block].pairs[sub / 2u * 32u + i % 32u]);
    uint code = sub % 2u == 0u ? pair % 16u : pair / 16u;
    y[i] = Y_TYPE(float(x[block].unit) * float(scale) * float(code) - float(x[block].least) * float(minimum));
}
