#version 450
// An element's place is the number of those before it; one invocation per element.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer XBuffer { float x[]; };
layout(binding = 1) writeonly buffer YBuffer { int y[]; };
layout(push_constant) uniform Push {
    uint rows;
    uint cols;
    uint order;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= rows * cols) {
        return;
    }
    uint row = i / cols;
    uint place = 0u;
    for (uint c = 0u; c < cols; c++) {
        float other = x[row * cols + c];
        bool before = order == 0u ? other < x[i] : other > x[i];
        if (before || (other == x[i] && c < i % cols)) {
            place++;
        }
    }
    y[row * cols + place] = int(i % cols);
}
