#version 450
// Row r of d is the sum of the rows of g whose index is r; one invocation per element of d.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer GBuffer { float g[]; };
layout(binding = 1) readonly buffer IndexBuffer { int index[]; };
layout(binding = 2) writeonly buffer DBuffer { float d[]; };
layout(push_constant) uniform Push {
    uint vocab;
    uint width;
    uint count;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= vocab * width) {
        return;
    }
    float total = 0.0;
    for (uint j = 0u; j < count; j++) {
        if (index[j] == int(i / width)) {
            total += g[j * width + i % width];
        }
    }
    d[i] = total;
}
