#version 450
// Cosines, then sines, of time max_period^(-pair / half); one invocation per element.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint count;
    uint dim;
    float max_period;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count * dim) {
        return;
    }
    uint col = i % dim;
    uint half_dim = dim / 2u;
    if (col == 2u * half_dim) {
        y[i] = 0.0;
        return;
    }
    float angle = x[i / dim] * pow(max_period, -float(col % half_dim) / float(half_dim));
    y[i] = col < half_dim ? cos(angle) : sin(angle);
}
