#pragma once
#include <nanobind/nanobind.h>

void bind_continuous_totals(nanobind::module_& m);
