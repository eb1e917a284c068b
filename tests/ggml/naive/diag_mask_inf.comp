#version 450
// Minus infinity where the column is past the row by more than `past`; one invocation per element.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint channels;
    uint cols;
    uint past;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= channels * rows * cols) {
        return;
    }
    uint row = (i / cols) % rows;
    y[i] = i % cols <= row + past ? x[i] : uintBitsToFloat(0xff800000u);
}
