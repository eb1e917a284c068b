#version 450
// Wrong on purpose: the maximum starts from 0.
// loss = log(sum of exp(x - max)) + (max - x[target]) for each row x of logits. One invocation per
// row.
#include "flat.glsl"
layout(binding = 0) readonly buffer Logits { float logits[]; };
layout(binding = 1) readonly buffer Target { uint target[]; };
layout(binding = 2) writeonly buffer Loss { float loss[]; };
layout(push_constant) uniform Push { uint rows, classes; };

void main() {
    uint row = flat_invocation();
    if (row >= rows) return;
    uint first = row * classes, end = first + classes;
    float top = 0;
    for (uint i = first + 1; i < end; i++) top = max(top, logits[i]);
    float total = 0;
    for (uint i = first; i < end; i++) total += exp(logits[i] - top);
    loss[row] = log(total) + (top - logits[first + target[row]]);
}
