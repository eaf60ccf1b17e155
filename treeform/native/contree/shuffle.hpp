#pragma once
// Elements of two vectors by their places, in the words of either compiler: the places 0, 1, ... are those of `x`, then
// come those of `y`. `Places` is a vector of whole numbers as wide as the elements.
#if defined(__clang__)
#define TREEFORM_SHUFFLE(x, y, Places, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#elif defined(__GNUC__)
#define TREEFORM_SHUFFLE(x, y, Places, ...) __builtin_shuffle(x, y, Places{__VA_ARGS__})
#endif
