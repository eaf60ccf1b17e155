#define TREEFORM_ISA plain
#define TREEFORM_NAME "plain"
#include "kernel.inl"
