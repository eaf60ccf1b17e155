#pragma once
// What all bindings share. A bound function takes its arrays by position and everything else by keyword, and returns a
// dictionary. Sizes, ranges and names are checked here and in bind.cpp of the engine; their meaning is checked in
// Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "away.hpp"
#include "checks.hpp"
#include "control.hpp"

namespace treeform {

namespace nb = nanobind;

/// A C-contiguous array in main memory. An argument that may be None is not `is_valid()` then.
template <class T, int Dimensions>
using Array = nb::ndarray<const T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;

/// Throws ValueError if an array that is given is not aligned for its type.
template <class... Arrays>
void require_aligned(const Arrays&... arrays) {
    const auto aligned = [](const auto& array) {
        return !array.is_valid() || reinterpret_cast<std::uintptr_t>(array.data()) % sizeof(*array.data()) == 0;
    };
    require((aligned(arrays) && ...), "an array is not aligned in memory");
}

/// Throws ValueError if numbers are not aligned, or one of them is NaN. What every function asks of the values that it
/// sorts or compares.
template <class Values>
void require_numbers(const Values& values) {
    require_aligned(values);
    if (values.is_valid()) require_ordered(values.data(), values.size());
}

/// A copy as a NumPy array of one dimension.
nb::object to_array(const std::vector<std::int32_t>& values);
nb::object to_array(const std::vector<std::int64_t>& values);
nb::object to_array(const std::vector<double>& values);

/// A list of Python numbers or strings.
nb::list to_list(const std::vector<std::int64_t>& values);
nb::list to_list(const std::vector<double>& values);
nb::list to_list(const std::vector<std::string>& values);

/// A tree as a dictionary of arrays and its cost; None when it is empty.
nb::object to_object(const FlatTree& tree, std::int64_t cost);
inline nb::object to_object(const FlatTree& tree) { return to_object(tree, tree.cost); }

/// The group of each row of a matrix of doubles, and the first row of each group: see group_rows.hpp.
nb::tuple group_rows_of(const Array<double, 2>& x);

/// The leaf of each row, and the weight of each class on each arc of a decision graph: see moved_rows.hpp.
nb::tuple move_rows_of(const Array<double, 2>& x, const Array<std::int64_t, 2>& weight,
                       const Array<std::int32_t, 1>& feature, const Array<double, 1>& threshold,
                       const Array<std::int32_t, 1>& left, const Array<std::int32_t, 1>& right);

/// Names that are in a list, for settings such as `use=["cache", "similarity"]`.
class Names {
public:
    explicit Names(std::vector<std::string> names) : names_(std::move(names)) {}
    bool operator()(const char* name) const;
    const std::vector<std::string>& all() const { return names_; }

private:
    std::vector<std::string> names_;
};

/// The keywords of one call. A keyword that is missing, that nobody reads, or that has a wrong type is a TypeError, a
/// number out of range a ValueError.
class Keywords {
public:
    explicit Keywords(const nb::kwargs& given) : given_(given) {}

    bool has(const char* name) const { return given_.contains(name); }
    nb::object object(const char* name);
    std::int64_t integer(const char* name);
    std::int64_t integer_between(const char* name, std::int64_t least, std::int64_t most) {
        return require_between(integer(name), least, most, name);
    }
    /// An integer that is not negative.
    std::int64_t amount(const char* name) { return integer_between(name, 0, kAnyAmount); }
    int depth(int least) { return static_cast<int>(integer_between("depth", least, kDeepestTree)); }
    int threads() { return static_cast<int>(integer_between("threads", 1, kMostThreads)); }
    /// An integer within the range of T.
    template <class T>
    T integer_as(const char* name) {
        return in_range<T>(integer(name), name);
    }
    template <class T>
    std::vector<T> integers_as(const char* name) {
        std::vector<T> all;
        for (const std::int64_t value : integers(name)) all.push_back(in_range<T>(value, name));
        return all;
    }
    std::vector<std::int64_t> integers(const char* name);
    /// An integer, or `otherwise` for None.
    std::int64_t integer_or(const char* name, std::int64_t otherwise);
    /// A number that is not NaN.
    double real(const char* name);
    bool flag(const char* name);
    std::string text(const char* name);
    Names names(const char* name);
    /// A tree given as (feature, left, right, label), empty for None. Every index is checked, as searches follow them.
    FlatTree tree(const char* name, std::size_t features, int labels);
    /// The tree to begin with over ranks, `start` and its `start_key`; empty where neither is given.
    FlatTree start_over_ranks(std::size_t features, int labels);
    /// To be called when all keywords have been read.
    void finish() const;

private:
    nb::kwargs given_;
    std::vector<const char*> read_;

    template <class T>
    static T in_range(std::int64_t value, const char* name) {
        if (!std::in_range<T>(value)) throw std::invalid_argument(std::string(name) + " is out of range");
        return static_cast<T>(value);
    }
};

/// Enter in the answer whether memory ended the run (`by_engine`: by the engine's own count), and the bytes of a table
/// that was refused.
inline void add_memory(nb::dict& answer, const Stoppable& control, bool by_engine) {
    answer["memory"] = by_engine || control.out_of_memory(), answer["refused"] = control.refused();
}

/// The reply of a Python poll, (stop, upper bound or None): true to stop.
bool obey(const nb::object& reply, const std::function<void(std::int64_t)>& tighten);

/// Reports improvements and the nodes so far to a Python callable, as poll([(seconds, upper, lower), ...], last tree or
/// None, nodes). True to stop.
bool report_trees(const std::vector<Improvement>& news, std::int64_t nodes, const nb::object& poll,
                  const std::function<void(std::int64_t)>& tighten);

/// Parts of a search that a Python callable answers; None: nobody does.
Away away_to(const nb::object& ask, int callers);

/// Answers a part on a thread of its own; None where it was stopped, or memory ran out. `poll` is called about twenty
/// times a second and returns whether to stop.
nb::object answer_part(Stoppable& control, const nb::object& question, const nb::object& poll,
                       const std::function<Message(const Message&)>& answer);

/// Answers the parts of a search to Python. A subclass makes the search, and holds what it reads.
template <class Control>
class PartAnswers {
public:
    /// The reply; None once `poll` returned true, or memory ran out. Not for two threads at a time.
    nb::object evaluate(const nb::object& question, const nb::object& poll) {
        return answer_part(control_, question, poll, search_);
    }

protected:
    Control control_;
    PartSearch search_;
};

/// What a call says about the run of its search; the last of its keywords.
struct SharedRun {
    double time_limit;
    std::size_t memory_limit;
    nb::object poll;
    Away away;

    explicit SharedRun(Keywords& keywords)
        : time_limit(keywords.real("time_limit")), memory_limit(keywords.integer_as<std::size_t>("memory_limit")),
          poll(keywords.object("poll")), away(away_to(keywords.object("ask"), keywords.integer_as<int>("callers"))) {
        keywords.finish();
    }
};

/// `run_beside` without the GIL; `poll` is called with it. An empty `poll` is not called.
void run_without_gil(Stoppable& control, double time_limit, const std::function<void()>& search,
                     const std::function<bool()>& poll);

/// Runs a search for one tree. Its improvements since the last call are taken by `take`, and go to a Python callable or
/// None.
inline void run_tree_search(ReportingControl<Improvement>& control, double time_limit, const nb::object& poll,
                            const std::function<void()>& search,
                            const std::function<std::vector<Improvement>()>& take) {
    const auto tighten = [&](std::int64_t upper) { control.tighten(upper); };
    const auto report = [&] { return report_trees(take(), control.nodes(), poll, tighten); };
    run_without_gil(control, time_limit, search, poll.is_none() ? std::function<bool()>() : report);
}
inline void run_tree_search(TreeControl& control, double time_limit, const nb::object& poll,
                            const std::function<void()>& search) {
    run_tree_search(control, time_limit, poll, search, [&] { return control.take(); });
}

}  // namespace treeform
