#version 450
// The number of equal pairs, by one invocation.

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer ABuffer { int a[]; };
layout(binding = 1) readonly buffer BBuffer { int b[]; };
layout(binding = 2) writeonly buffer DBuffer { int d[]; };
layout(push_constant) uniform Push {
    uint len;
};

void main() {
    if (gl_GlobalInvocationID.x > 0u) {
        return;
    }
    int count = 0;
    for (uint i = 0u; i < len; i++) {
        count += a[i] == b[i] ? 1 : 0;
    }
    d[0] = count;
}
