// The Python module of the native core. An engine is added by its folder's `bind` in this list.
#include <nanobind/nanobind.h>

#include <exception>

#include "common/binding.hpp"
#include "common/memory.hpp"

namespace treeform {

#define TREEFORM_ENGINES(each) \
    each(and_or) each(binary) each(continuous_totals) each(contree) each(diagram) each(regression) each(rup) each(totals)
#define TREEFORM_DECLARE(engine)      \
    namespace engine {                \
    void bind(nanobind::module_& m); \
    }
TREEFORM_ENGINES(TREEFORM_DECLARE)

}  // namespace treeform

NB_MODULE(_core, m) {
    m.doc() = "The native core of treeform.";
    // Keywords are told by their names; what is left is an array of a table, a message, or what a callable returned.
    nanobind::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const nanobind::cast_error&) {
            PyErr_SetString(PyExc_TypeError, "an array of a table, a message, or the reply of a callable has a wrong type");
        }
    });
#define TREEFORM_BIND(engine) treeform::engine::bind(m);
    TREEFORM_ENGINES(TREEFORM_BIND)
    m.def("group_rows", &treeform::group_rows_of, nanobind::arg("x"),
          "Number groups of equal rows of an (n, F) float64 matrix, compared bit by bit, in order of first appearance: "
          "(n,) "
          "group of each row, (P,) first row of each group.");
    m.def(
        "move_rows", &treeform::move_rows_of, nanobind::arg("x"), nanobind::arg("weight"), nanobind::arg("feature"),
        nanobind::arg("threshold"), nanobind::arg("left"), nanobind::arg("right"),
        "Move the rows of an (n, F) float64 matrix, with (n, K) int64 weights, through a decision graph whose children "
        "come after their parents: (n,) leaf of each row, (2 * N * K,) weight of each class on each arc, the left and "
        "then the right one of each node, (N * K,) weight of each class that reaches each node.");
    nanobind::class_<treeform::Growth>(m, "Growth", "By how much the process has grown since this was made.")
        .def(nanobind::init<>())
        .def("bytes", &treeform::Growth::bytes,
             "Bytes: the larger of what is in main memory and what the allocator has handed out, each less what it was "
             "then.");
}
