#version 450
// Rows and columns start anew `times` times; one invocation per element of y.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { int x[]; };
layout(binding = 1) writeonly buffer YBuffer { int y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
    uint channels;
    uint times;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= channels * rows * cols * times * times) {
        return;
    }
    uint col = i % (cols * times) % cols;
    uint row = i / (cols * times) % (rows * times) % rows;
    uint channel = i / (cols * times * rows * times);
    y[i] = x[(channel * rows + row) * cols + col];
}
