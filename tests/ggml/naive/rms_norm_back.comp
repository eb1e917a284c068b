#version 450
// With s = mean(x^2) + eps: d = (g - x mean(g x) / s) / sqrt(s); one invocation per row.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer GBuffer { float g[]; };
layout(binding = 1) readonly buffer XBuffer { float x[]; };
layout(binding = 2) writeonly buffer DBuffer { float d[]; };
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
    float square = 0.0;
    float product = 0.0;
    for (uint c = 0u; c < cols; c++) {
        square += x[i * cols + c] * x[i * cols + c];
        product += g[i * cols + c] * x[i * cols + c];
    }
    float s = square / float(cols) + eps;
    for (uint c = 0u; c < cols; c++) {
        d[i * cols + c] = (g[i * cols + c] - x[i * cols + c] * (product / float(cols)) / s) / sqrt(s);
    }
}
