#version 450
#extension GL_EXT_shader_16bit_storage : require
// Softmax of scale q k + mask over keys, times v; one invocation per element of y.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer QBuffer { float q[]; };
layout(binding = 1) readonly buffer KBuffer { float16_t k[]; };
layout(binding = 2) readonly buffer VBuffer { float16_t v[]; };
layout(binding = 3) readonly buffer MaskBuffer { float16_t mask[]; };
layout(binding = 4) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint queries;
    uint keys;
    uint heads;
    uint kv_heads;
    uint dim;
    float scale;
};

float score(uint head, uint kv_head, uint query, uint key) {
    float product = 0.0;
    for (uint c = 0u; c < dim; c++) {
        product += q[(head * queries + query) * dim + c] * float(k[(kv_head * keys + key) * dim + c]);
    }
    return scale * product + float(mask[query * keys + key]);
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= queries * heads * dim) {
        return;
    }
    uint head = i / dim % heads;
    uint query = i / (dim * heads);
    uint kv_head = head / (heads / kv_heads);
    float top = -3.0e38;
    for (uint key = 0u; key < keys; key++) {
        top = max(top, score(head, kv_head, query, key));
    }
    float total = 0.0;
    float weighted = 0.0;
    for (uint key = 0u; key < keys; key++) {
        float weight = exp(score(head, kv_head, query, key) - top);
        total += weight;
        weighted += weight * float(v[(kv_head * keys + key) * dim + i % dim]);
    }
    // All keys masked: zeros.
    y[i] = total == 0.0 ? 0.0 : weighted / total;
}
