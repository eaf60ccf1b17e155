// The Python module of the native core. An engine is added by its folder's `bind` in this list.
#include <nanobind/nanobind.h>

#include "common/memory.hpp"

namespace treeform {

namespace binary {
void bind(nanobind::module_& m);
}
namespace continuous_totals {
void bind(nanobind::module_& m);
}
namespace contree {
void bind(nanobind::module_& m);
}
namespace diagram {
void bind(nanobind::module_& m);
}
namespace regression {
void bind(nanobind::module_& m);
}
namespace rup {
void bind(nanobind::module_& m);
}
namespace totals {
void bind(nanobind::module_& m);
}

}  // namespace treeform

NB_MODULE(_core, m) {
    m.doc() = "The native core of treeform.";
    treeform::binary::bind(m);
    treeform::continuous_totals::bind(m);
    treeform::contree::bind(m);
    treeform::diagram::bind(m);
    treeform::regression::bind(m);
    treeform::rup::bind(m);
    treeform::totals::bind(m);
    m.def("resident_bytes", &treeform::resident_bytes, "Bytes of this process in main memory; 0 where unknown.");
}
