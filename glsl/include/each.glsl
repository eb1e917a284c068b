// One invocation per element of vectors of one length, the dispatches of an elementwise op.
#ifndef EACH_GLSL
#define EACH_GLSL
#include "element.glsl"
#include "flat.glsl"
layout(push_constant) uniform Each { uint len; };
#endif
