// A flat number for workgroups and invocations, whatever the dispatch spilled into y.
#ifndef FLAT_GLSL
#define FLAT_GLSL
layout(constant_id = 0) const uint WORKGROUP = 64;
layout(local_size_x_id = 0) in;

uint flat_workgroup() {
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

uint flat_invocation() {
    return flat_workgroup() * WORKGROUP + gl_LocalInvocationID.x;
}
#endif
