#define TREEFORM_AVX512
#include "kernel.inl"
