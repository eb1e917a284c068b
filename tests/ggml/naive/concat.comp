#version 450
// a beside b (axis 0) or above it (axis 1); one invocation per element of y.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer ABuffer { uint a[]; };
layout(binding = 1) readonly buffer BBuffer { uint b[]; };
layout(binding = 2) writeonly buffer YBuffer { uint y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
    uint y_rows;
    uint y_cols;
    uint axis;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= y_rows * y_cols) {
        return;
    }
    uint row = i / y_cols;
    uint col = i % y_cols;
    if (row < rows && col < cols) {
        y[i] = a[row * cols + col];
    } else if (axis == 0u) {
        y[i] = b[row * (y_cols - cols) + col - cols];
    } else {
        y[i] = b[(row - rows) * y_cols + col];
    }
}
