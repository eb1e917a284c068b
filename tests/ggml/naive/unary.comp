#version 450
#extension GL_EXT_shader_16bit_storage : require
// One function of each element; which one is a define.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { A_TYPE x[]; };
layout(binding = 1) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint len;
#ifdef CLAMP
    float low;
    float high;
#endif
};

float f(float v) {
#if defined(GELU)
    return 0.5 * v * (1.0 + tanh(sqrt(2.0 / 3.14159265358979) * (v + 0.044715 * v * v * v)));
#elif defined(SILU)
    return v / (1.0 + exp(-v));
#elif defined(CLAMP)
    return min(max(v, low), high);
#elif defined(SQUARE)
    return v * v;
#elif defined(SINE)
    return sin(v);
#elif defined(HARD_SWISH)
    return v < -3.0 ? 0.0 : v > 3.0 ? v : v * (v + 3.0) / 6.0;
#endif
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= len) {
        return;
    }
    y[i] = f(float(x[i]));
}
