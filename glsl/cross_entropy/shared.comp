#version 450
// loss = log(sum of exp(x - max)) + (max - x[target]) for each row x of logits. One workgroup per
// row, whose invocations take every WORKGROUP-th class; trees in shared memory find the maximum
// and the sum.
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer Logits { float logits[]; };
layout(binding = 1) readonly buffer Target { uint target[]; };
layout(binding = 2) writeonly buffer Loss { float loss[]; };
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
    if (gl_LocalInvocationID.x == 0)
        loss[row] = log(total) + (top - logits[first + target[row]]);
}
