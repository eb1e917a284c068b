#version 450
// Windows 3 high and 2 wide, rows 2 apart: the largest (op 0) or the mean; one invocation per element of y.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint planes;
    uint height;
    uint width;
    uint out_height;
    uint out_width;
    uint pad;
    uint op;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= planes * out_height * out_width) {
        return;
    }
    uint plane = i / (out_height * out_width);
    float top = -3.0e38;
    float total = 0.0;
    for (uint j = 0u; j < 6u; j++) {
        int row = int(i / out_width % out_height * 2u + j / 2u) - int(pad);
        int col = int(i % out_width + j % 2u) - int(pad);
        if (row >= 0 && row < int(height) && col >= 0 && col < int(width)) {
            float v = x[int(plane * height) * int(width) + row * int(width) + col];
            top = max(top, v);
            total += v;
        }
    }
    y[i] = op == 0u ? top : total / 6.0;
}
