// GeLU and its derivative, exact (erf) and by Hendrycks and Gimpel's approximation (tanh).
#ifndef GELU_GLSL
#define GELU_GLSL
#include "erf.glsl"

float gelu_erf(float x) {
    return 0.5 * x * (1.0 + erf(x * 0.70710678));
}

// Phi(x) + x phi(x), with 1 / sqrt(2 pi) = 0.39894228.
float gelu_erf_slope(float x) {
    return 0.5 * (1.0 + erf(x * 0.70710678)) + x * (0.39894228 * exp(-0.5 * x * x));
}

// tanh(sqrt(2 / pi) (x + 0.044715 x^3)). Past 15 it is 1 to the last digit, and a driver that
// makes it of two exponentials would divide one infinity by another.
float gelu_gate(float x) {
    return tanh(clamp(0.79788456 * (x + 0.044715 * x * x * x), -15.0, 15.0));
}

float gelu_tanh(float x) {
    return 0.5 * x * (1.0 + gelu_gate(x));
}

float gelu_tanh_slope(float x) {
    float gate = gelu_gate(x);
    float inner = 0.79788456 * (1.0 + 3.0 * 0.044715 * x * x);
    return 0.5 * (1.0 + gate) + 0.5 * x * (1.0 - gate * gate) * inner;
}
#endif
