// The error function, which GLSL lacks: Abramowitz and Stegun, "Handbook of Mathematical
// Functions", formula 7.1.26. Off by at most 1.5e-7 everywhere.
#ifndef ERF_GLSL
#define ERF_GLSL
float erf(float x) {
    float t = 1.0 / (1.0 + 0.3275911 * abs(x));
    float polynomial = t * (0.254829592 + t * (-0.284496736
        + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    float magnitude = 1.0 - polynomial * exp(-x * x);
    return x < 0.0 ? -magnitude : magnitude;
}
#endif
