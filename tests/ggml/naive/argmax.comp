#version 450
// The first column of the largest element; one invocation per row.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { int y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= rows) {
        return;
    }
    uint best = 0u;
    for (uint c = 1u; c < cols; c++) {
        if (x[i * cols + c] > x[i * cols + best]) {
            best = c;
        }
    }
    y[i] = int(best);
}
