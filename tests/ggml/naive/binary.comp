#version 450
#extension GL_EXT_shader_16bit_storage : require
// y = a OPERATOR b, one row or column of b for all where it has one; one invocation per element.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer ABuffer { A_TYPE a[]; };
layout(binding = 1) readonly buffer BBuffer { float b[]; };
layout(binding = 2) writeonly buffer YBuffer { float y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
    uint b_rows;
    uint b_cols;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= rows * cols) {
        return;
    }
    uint row = min(i / cols, b_rows - 1u);
    uint col = min(i % cols, b_cols - 1u);
    y[i] = float(a[i]) OPERATOR b[row * b_cols + col];
}
