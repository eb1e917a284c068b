#version 450
#extension GL_EXT_shader_16bit_storage : require
// y[channel, row, col] = x[channel, col, row]; one invocation per element of y.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { X_TYPE x[]; };
layout(binding = 1) writeonly buffer YBuffer { Y_TYPE y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
    uint channels;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= channels * rows * cols) {
        return;
    }
    uint channel = i / (rows * cols);
    uint row = i / cols % rows;
    y[i] = Y_TYPE(float(x[(channel * cols + i % cols) * rows + row]));
}
