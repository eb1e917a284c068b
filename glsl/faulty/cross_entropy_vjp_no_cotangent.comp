#version 450
// Wrong on purpose: the cotangent is ignored.
// glogits = (softmax(logits) - onehot(target)) * gloss. One invocation per row.
#include "flat.glsl"
layout(binding = 0) readonly buffer Logits { float logits[]; };
layout(binding = 1) readonly buffer Target { uint target[]; };
layout(binding = 2) readonly buffer Gloss { float gloss[]; };
layout(binding = 3) writeonly buffer Glogits { float glogits[]; };
layout(push_constant) uniform Push { uint rows, classes; };

void main() {
    uint row = flat_invocation();
    if (row >= rows) return;
    uint first = row * classes, end = first + classes;
    float top = logits[first];
    for (uint i = first + 1; i < end; i++) top = max(top, logits[i]);
    float total = 0;
    for (uint i = first; i < end; i++) total += exp(logits[i] - top);
    for (uint i = first; i < end; i++) {
        float hit = i - first == target[row] ? 1 : 0;
        glogits[i] = (exp(logits[i] - top) / total - hit);
    }
}
