#version 450
// Pairs of columns turned by position 10000^(-2 pair / n_dims); one invocation per element.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) readonly buffer PositionBuffer { int position[]; };
layout(binding = 2) readonly buffer FactorBuffer { float factor[]; };
layout(binding = 3) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint heads;
    uint tokens;
    uint cols;
    uint n_dims;
    uint has_factor;
    uint back;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= tokens * heads * cols) {
        return;
    }
    uint col = i % cols;
    if (col >= n_dims) {
        y[i] = x[i];
        return;
    }
    #ifdef HALVES
    uint pair = col % (n_dims / 2u);
    bool is_first = col < n_dims / 2u;
    uint distance = n_dims / 2u;
    #else
    uint pair = col / 2u;
    bool is_first = col % 2u == 0u;
    uint distance = 1u;
    #endif
    float angle = float(position[i / (heads * cols)]) * exp(-2.0 * float(pair) / float(n_dims) * log(10000.0));
    if (has_factor == 1u) {
        angle /= factor[pair];
    }
    float s = back == 1u ? -sin(angle) : sin(angle);
    y[i] = is_first ? x[i] * cos(angle) - x[i + distance] * s : x[i] * cos(angle) + x[i - distance] * s;
}
