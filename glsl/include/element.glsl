// ELEMENT is the type in storage, defined by the plan; arithmetic is always in float.
#ifndef ELEMENT_GLSL
#define ELEMENT_GLSL
#extension GL_EXT_shader_16bit_storage : enable
#ifndef ELEMENT
#define ELEMENT float
#endif
#endif
