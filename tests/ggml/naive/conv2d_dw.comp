#version 450
// 3 x 3 weights per channel, rows 2 apart, weights 2 columns apart; one invocation per element of y.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer WeightsBuffer { float weights[]; };
layout(binding = 1) readonly buffer XBuffer { float x[]; };
layout(binding = 2) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint batch;
    uint channels;
    uint height;
    uint width;
    uint out_height;
    uint out_width;
    uint pad;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= batch * channels * out_height * out_width) {
        return;
    }
    uint plane = i / (out_height * out_width);
    float total = 0.0;
    for (uint j = 0u; j < 9u; j++) {
        int row = int(i / out_width % out_height * 2u + j / 3u) - int(pad);
        int col = int(i % out_width + 2u * (j % 3u)) - int(pad);
        if (row >= 0 && row < int(height) && col >= 0 && col < int(width)) {
            total += weights[plane % channels * 9u + j] * x[int(plane * height) * int(width) + row * int(width) + col];
        }
    }
    y[i] = total;
}
