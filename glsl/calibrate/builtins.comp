#version 450
// y = one builtin function of x, or x / x2 for DIV: what a calibration compares with f64 over 2^20
// points. The plan defines FUNCTION as DIV, SQRT, INVERSESQRT, EXP, LOG or TANH; x2 is read by DIV
// alone. One invocation per point.
#include "flat.glsl"
#define DIV 1
#define SQRT 2
#define INVERSESQRT 3
#define EXP 4
#define LOG 5
#define TANH 6
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer X2 { float x2[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Push { uint len; };

void main() {
    uint i = flat_invocation();
    if (i >= len) return;
#if FUNCTION == DIV
    y[i] = x[i] / x2[i];
#elif FUNCTION == SQRT
    y[i] = sqrt(x[i]);
#elif FUNCTION == INVERSESQRT
    y[i] = inversesqrt(x[i]);
#elif FUNCTION == EXP
    y[i] = exp(x[i]);
#elif FUNCTION == LOG
    y[i] = log(x[i]);
#elif FUNCTION == TANH
    y[i] = tanh(x[i]);
#else
#error FUNCTION names no builtin
#endif
}
