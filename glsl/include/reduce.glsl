// Reductions over a workgroup by a tree in shared memory: every invocation passes a value and gets
// the result. All invocations must call, and may call again at once.
#ifndef REDUCE_GLSL
#define REDUCE_GLSL
#include "flat.glsl"
shared float reduce_lanes[WORKGROUP];

float workgroup_sum(float value) {
    uint lane = gl_LocalInvocationID.x;
    reduce_lanes[lane] = value;
    barrier();
    // Each round adds the upper part to the lower one; an odd width leaves its middle alone.
    for (uint width = WORKGROUP; width > 1; width = (width + 1) / 2) {
        uint upper = (width + 1) / 2;
        if (lane + upper < width) reduce_lanes[lane] += reduce_lanes[lane + upper];
        barrier();
    }
    float total = reduce_lanes[0];
    // The next call must not overwrite what a slower invocation has yet to read.
    barrier();
    return total;
}

float workgroup_max(float value) {
    uint lane = gl_LocalInvocationID.x;
    reduce_lanes[lane] = value;
    barrier();
    for (uint width = WORKGROUP; width > 1; width = (width + 1) / 2) {
        uint upper = (width + 1) / 2;
        if (lane + upper < width)
            reduce_lanes[lane] = max(reduce_lanes[lane], reduce_lanes[lane + upper]);
        barrier();
    }
    float top = reduce_lanes[0];
    barrier();
    return top;
}
#endif
