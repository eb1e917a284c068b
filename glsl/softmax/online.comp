#version 450
// y = softmax of each row of x, whose maximum and sum are found in one pass (Milakov and
// Gimelshein, "Online normalizer calculation for softmax"). One workgroup per row, whose
// invocations take every WORKGROUP-th column.
#include "element.glsl"
#include "flat.glsl"
#include "reduce.glsl"
layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) writeonly buffer Y { ELEMENT y[]; };
layout(push_constant) uniform Push { uint rows, cols; };

void main() {
    uint row = flat_workgroup();
    if (row >= rows) return;
    uint first = row * cols, end = first + cols, start = first + gl_LocalInvocationID.x;
    // `part` is the sum of exp(x - mine) over the columns so far, for their maximum `mine`.
    float mine = float(x[first]), part = 0;
    for (uint i = start; i < end; i += WORKGROUP) {
        float value = float(x[i]);
        if (value > mine) {
            part *= exp(mine - value);
            mine = value;
        }
        part += exp(value - mine);
    }
    float top = workgroup_max(mine);
    float total = workgroup_sum(part * exp(mine - top));
    for (uint i = start; i < end; i += WORKGROUP) y[i] = ELEMENT(exp(float(x[i]) - top) / total);
}
