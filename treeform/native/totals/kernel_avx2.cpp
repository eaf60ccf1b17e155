#define TREEFORM_AVX2
#include "kernel.inl"
