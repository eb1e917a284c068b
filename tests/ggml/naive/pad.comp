#version 450
// Zeros around a matrix, or its opposite edge; one invocation per element of y.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
    uint left;
    uint y_rows;
    uint y_cols;
    uint circular;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= y_rows * y_cols) {
        return;
    }
    int row = int(i / y_cols);
    int col = int(i % y_cols) - int(left);
    if (circular == 1u) {
        row = row % int(rows);
        col = (col + int(cols)) % int(cols);
    }
    bool is_inside = row < int(rows) && col >= 0 && col < int(cols);
    y[i] = is_inside ? x[row * int(cols) + col] : 0.0;
}
