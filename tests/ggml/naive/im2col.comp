#version 450
// Patches 2 high and 3 wide, columns 2 apart; one invocation per element of y.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint batch;
    uint channels;
    uint height;
    uint width;
    uint out_height;
    uint out_width;
    uint stride;
    uint pad;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= batch * out_height * out_width * channels * 6u) {
        return;
    }
    uint inner = i % (channels * 6u);
    uint place = i / (channels * 6u);
    int row = int(place / out_width % out_height + inner / 3u % 2u) - int(pad);
    int col = int(place % out_width * stride + 2u * (inner % 3u)) - 1;
    uint plane = place / (out_width * out_height) * channels + inner / 6u;
    bool is_inside = row >= 0 && row < int(height) && col >= 0 && col < int(width);
    y[i] = is_inside ? x[int(plane * height) * int(width) + row * int(width) + col] : 0.0;
}
