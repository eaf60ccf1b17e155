#pragma once
#include <nanobind/nanobind.h>

void bind_totals(nanobind::module_& m);
