#version 450
#extension GL_EXT_shader_16bit_storage : require
// Softmax of scale x + slope mask with a sink per head; one invocation per row.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) readonly buffer MaskBuffer { float16_t mask[]; };
layout(binding = 2) readonly buffer SinksBuffer { float sinks[]; };
layout(binding = 3) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
    uint heads;
    float scale;
    float m0;
    float m1;
    uint n_head_log2;
    uint sink;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= heads * rows) {
        return;
    }
    uint head = i / rows;
    float base = head < n_head_log2 ? m0 : m1;
    uint power = head < n_head_log2 ? head + 1u : 2u * (head - n_head_log2) + 1u;
    float slope = 1.0;
    for (uint j = 0u; j < power; j++) {
        slope *= base;
    }

    float top = sink == 1u ? sinks[head] : -3.0e38;
    for (uint c = 0u; c < cols; c++) {
        top = max(top, scale * x[i * cols + c] + slope * float(mask[(i % rows) * cols + c]));
    }
    float total = sink == 1u ? exp(sinks[head] - top) : 0.0;
    for (uint c = 0u; c < cols; c++) {
        total += exp(scale * x[i * cols + c] + slope * float(mask[(i % rows) * cols + c]) - top);
    }
    for (uint c = 0u; c < cols; c++) {
        float score = scale * x[i * cols + c] + slope * float(mask[(i % rows) * cols + c]);
        y[i * cols + c] = exp(score - top) / total;
    }
}
