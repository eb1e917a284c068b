#version 450
layout(binding = 0) buffer A { uint a[]; };
void main() { a[gl_GlobalInvocationID.x] = -a[gl_GlobalInvocationID.x]; }
