#pragma once
#include <nanobind/nanobind.h>

void bind_diagram(nanobind::module_& m);
