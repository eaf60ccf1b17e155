#include "kernel.inl"
