#version 450
// Wrong on purpose: the mask of the target is off by one.
// glogits = (softmax(logits) - onehot(target)) * gloss. One workgroup per row, whose invocations
// take every WORKGROUP-th class; trees in shared memory find maximum and sum.
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer Logits { float logits[]; };
layout(binding = 1) readonly buffer Target { uint target[]; };
layout(binding = 2) readonly buffer Gloss { float gloss[]; };
layout(binding = 3) writeonly buffer Glogits { float glogits[]; };
layout(push_constant) uniform Push { uint rows, classes; };

void main() {
    uint row = flat_workgroup();
    if (row >= rows) return;
    uint first = row * classes, end = first + classes, start = first + gl_LocalInvocationID.x;
    // An invocation without a class must not bring a number that the row doesn't have.
    float top = logits[first];
    for (uint i = start; i < end; i += WORKGROUP) top = max(top, logits[i]);
    top = workgroup_max(top);
    float part = 0;
    for (uint i = start; i < end; i += WORKGROUP) part += exp(logits[i] - top);
    float total = workgroup_sum(part);
    for (uint i = start; i < end; i += WORKGROUP) {
        float hit = i - first == target[row] + 1 ? 1 : 0;
        glogits[i] = (exp(logits[i] - top) / total - hit) * gloss[row];
    }
}
