#version 450
// A function of one half of a row times the other half; one invocation per element.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
    uint mode;
};

float f(float v) {
#if defined(GELU)
    return 0.5 * v * (1.0 + tanh(sqrt(2.0 / 3.14159265358979) * (v + 0.044715 * v * v * v)));
#elif defined(SILU)
    return v / (1.0 + exp(-v));
#endif
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= rows * cols) {
        return;
    }
    uint at = i / cols * 2u * cols + i % cols;
    float first = x[at];
    float second = x[at + cols];
    y[i] = mode == 0u ? f(first) * second : f(second) * first;
}
