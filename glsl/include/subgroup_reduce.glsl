// The reductions of reduce.glsl by subgroup arithmetic, for any subgroup size: one result per
// subgroup goes through shared memory. Holds an #extension, so it comes before declarations.
#extension GL_KHR_shader_subgroup_arithmetic : require
#ifndef SUBGROUP_REDUCE_GLSL
#define SUBGROUP_REDUCE_GLSL
#include "flat.glsl"
// Subgroups of one invocation are the most there can be.
shared float subgroup_results[WORKGROUP];

float workgroup_sum(float value) {
    float part = subgroupAdd(value);
    if (subgroupElect()) subgroup_results[gl_SubgroupID] = part;
    barrier();
    float total = subgroup_results[0];
    for (uint i = 1; i < gl_NumSubgroups; i++) total += subgroup_results[i];
    // The next call must not overwrite what a slower invocation has yet to read.
    barrier();
    return total;
}

float workgroup_max(float value) {
    float part = subgroupMax(value);
    if (subgroupElect()) subgroup_results[gl_SubgroupID] = part;
    barrier();
    float top = subgroup_results[0];
    for (uint i = 1; i < gl_NumSubgroups; i++) top = max(top, subgroup_results[i]);
    barrier();
    return top;
}
#endif
