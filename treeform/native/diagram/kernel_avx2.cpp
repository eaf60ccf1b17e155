#define TREEFORM_ISA avx2
#define TREEFORM_NAME "avx2"
#include "kernel.inl"
