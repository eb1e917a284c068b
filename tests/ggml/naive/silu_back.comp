#version 450
// g times the derivative of x / (1 + e^-x); one invocation per element.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer GBuffer { float g[]; };
layout(binding = 1) readonly buffer XBuffer { float x[]; };
layout(binding = 2) writeonly buffer DBuffer { float d[]; };
layout(push_constant) uniform Push {
    uint len;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= len) {
        return;
    }
    float e = exp(-x[i]);
    d[i] = g[i] * (1.0 / (1.0 + e) + x[i] * e / ((1.0 + e) * (1.0 + e)));
}
