// The square of a number: an include of this project's own.
#ifndef SQUARE_GLSL
#define SQUARE_GLSL
float square(float x) {
    return x * x;
}
#endif
