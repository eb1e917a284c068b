#version 450
// y = (x - mean) / sqrt(variance + eps) within each row; one invocation per row.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
    float eps;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= rows) {
        return;
    }
    float mean = 0.0;
    for (uint c = 0u; c < cols; c++) {
        mean += x[i * cols + c] / float(cols);
    }
    float variance = 0.0;
    for (uint c = 0u; c < cols; c++) {
        float distance = x[i * cols + c] - mean;
        variance += distance * distance / float(cols);
    }
    for (uint c = 0u; c < cols; c++) {
        y[i * cols + c] = (x[i * cols + c] - mean) / sqrt(variance + eps);
    }
}
