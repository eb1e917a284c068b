#version 450
// Wrong on purpose: the correction of the first moment is left out.
// One AdamW step: moments m and v, then p. One invocation per element.
#include "element.glsl"
#include "flat.glsl"
layout(binding = 0) buffer P { ELEMENT p[]; };
layout(binding = 1) buffer M { ELEMENT m[]; };
layout(binding = 2) buffer V { ELEMENT v[]; };
layout(binding = 3) readonly buffer G { ELEMENT g[]; };
layout(push_constant) uniform Push {
    uint len;
    float lr, beta1, beta2, eps, decay, one_minus_beta1, one_minus_beta2, correction1, correction2;
};

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
    float param = float(p[i]), grad = float(g[i]);
    float mean = beta1 * float(m[i]) + one_minus_beta1 * grad;
    float square = beta2 * float(v[i]) + one_minus_beta2 * (grad * grad);
    m[i] = ELEMENT(mean);
    v[i] = ELEMENT(square);
    float ratio = mean / (sqrt(square / correction2) + eps);
    p[i] = ELEMENT(param - lr * decay * param - lr * ratio);
}
