#pragma once
#include <nanobind/nanobind.h>

void bind_binary(nanobind::module_& m);
