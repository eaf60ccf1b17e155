#define TREEFORM_AVX512
#define TREEFORM_ISA avx512
#define TREEFORM_NAME "avx512"
#include "kernel.inl"
