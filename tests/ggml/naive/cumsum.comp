#version 450
// Running sums of rows; one invocation per row.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= rows) {
        return;
    }
    float total = 0.0;
    for (uint c = 0u; c < cols; c++) {
        total += x[i * cols + c];
        y[i * cols + c] = total;
    }
}
