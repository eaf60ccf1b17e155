#include "binding.hpp"

#include <nanobind/stl/pair.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "group_rows.hpp"
#include "moved_rows.hpp"
#include "run.hpp"
#include "run_again.hpp"

namespace treeform {
namespace {

template <class T>
nb::object copied(const std::vector<T>& values) {
    auto* copy = new std::vector<T>(values);
    nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(copy->data(), {copy->size()}, owner));
}

template <class T>
nb::list listed(const std::vector<T>& values) {
    nb::list out;
    for (const T& value : values) out.append(value);
    return out;
}

template <class T>
T cast(const nb::object& value, const char* name) {
    T out;
    if (!nb::try_cast(value, out)) throw nb::type_error((std::string(name) + " has a wrong type").c_str());
    return out;
}

}  // namespace

nb::object to_array(const std::vector<std::int32_t>& values) { return copied(values); }
nb::object to_array(const std::vector<std::int64_t>& values) { return copied(values); }
nb::object to_array(const std::vector<double>& values) { return copied(values); }

nb::list to_list(const std::vector<std::int64_t>& values) { return listed(values); }
nb::list to_list(const std::vector<double>& values) { return listed(values); }
nb::list to_list(const std::vector<std::string>& values) { return listed(values); }

nb::object to_object(const FlatTree& tree, std::int64_t cost) {
    if (tree.empty()) return nb::none();
    nb::dict out;
    out["feature"] = to_array(tree.feature), out["left"] = to_array(tree.left), out["right"] = to_array(tree.right);
    out["label"] = to_array(tree.label), out["cost"] = cost;
    if (!tree.low.empty()) out["low"] = to_array(tree.low), out["high"] = to_array(tree.high);
    return out;
}

nb::tuple group_rows_of(const Array<double, 2>& x) {
    require_aligned(x);
    require(x.shape(0) < std::size_t(1) << 31, "there are too many rows");
    RowGroups found;
    {
        const nb::gil_scoped_release release;
        found = group_rows(reinterpret_cast<const std::uint64_t*>(x.data()), x.shape(0), x.shape(1));
    }
    return nb::make_tuple(to_array(found.group), to_array(found.first));
}

namespace {

/// Sums of some of the rows have to be whole numbers of 64 bits.
void require_addable(const Array<std::int64_t, 2>& weight) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::vector<std::uint64_t> sums(weight.shape(1), 0);
    const std::int64_t* one = weight.data();
    for (std::size_t row = 0; row < weight.shape(0); ++row)
        for (std::uint64_t& sum : sums) {
            const auto size = *one < 0 ? 0 - static_cast<std::uint64_t>(*one) : static_cast<std::uint64_t>(*one);
            require(size <= kMost - sum, "the weights are too large to be added");
            sum += size, ++one;
        }
}

}  // namespace

nb::tuple move_rows_of(const Array<double, 2>& x, const Array<std::int64_t, 2>& weight,
                       const Array<std::int32_t, 1>& feature, const Array<double, 1>& threshold,
                       const Array<std::int32_t, 1>& left, const Array<std::int32_t, 1>& right) {
    require_aligned(x, weight, feature, threshold, left, right);
    const std::size_t count = feature.shape(0);
    require(count > 0 && count < std::size_t(1) << 30, "there is no node, or there are too many");
    require(threshold.shape(0) == count && left.shape(0) == count && right.shape(0) == count,
            "the arrays of the nodes differ in length");
    require(weight.shape(0) == x.shape(0), "weights and rows differ in number");
    require_addable(weight);
    for (std::size_t v = 0; v < count; ++v) {
        if (feature.data()[v] < 0) continue;
        require(std::size_t(feature.data()[v]) < x.shape(1), "a test reads a column that is not there");
        for (const std::int32_t child : {left.data()[v], right.data()[v]})
            require(child > std::int64_t(v) && std::size_t(child) < count, "a child does not come after its parent");
    }
    MovedRows moved;
    {
        const nb::gil_scoped_release release;
        const FlatNodes nodes{feature.data(), threshold.data(), left.data(), right.data(), count};
        moved = move_rows(nodes, x.data(), x.shape(0), x.shape(1), weight.data(), weight.shape(1));
    }
    return nb::make_tuple(to_array(moved.leaf), to_array(moved.carried), to_array(moved.reaching));
}

bool Names::operator()(const char* name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }

nb::object Keywords::object(const char* name) {
    if (!given_.contains(name)) throw nb::type_error((std::string("missing keyword: ") + name).c_str());
    read_.push_back(name);
    return given_[name];
}

std::int64_t Keywords::integer(const char* name) { return cast<std::int64_t>(object(name), name); }

double Keywords::real(const char* name) {
    const double value = cast<double>(object(name), name);
    require_ordered(&value, 1);
    return value;
}

bool Keywords::flag(const char* name) { return cast<bool>(object(name), name); }
std::string Keywords::text(const char* name) { return cast<std::string>(object(name), name); }
Names Keywords::names(const char* name) { return Names(cast<std::vector<std::string>>(object(name), name)); }

std::vector<std::int64_t> Keywords::integers(const char* name) {
    return cast<std::vector<std::int64_t>>(object(name), name);
}

std::int64_t Keywords::integer_or(const char* name, std::int64_t otherwise) {
    const nb::object value = object(name);
    return value.is_none() ? otherwise : cast<std::int64_t>(value, name);
}

FlatTree Keywords::tree(const char* name, std::size_t features, int labels) {
    const nb::object given = object(name);
    FlatTree tree;
    if (given.is_none()) return tree;
    const auto columns = cast<nb::tuple>(given, name);
    require(columns.size() == 4, "a tree is given as feature, left, right and label");
    std::vector<std::int32_t>* const parts[] = {&tree.feature, &tree.left, &tree.right, &tree.label};
    for (std::size_t k = 0; k < 4; ++k) {
        const auto column = cast<Array<std::int32_t, 1>>(nb::borrow(columns[k]), name);
        require_aligned(column);
        parts[k]->assign(column.data(), column.data() + column.shape(0));
    }
    require(tree.fits(features, labels), "these arrays are not a tree");
    return tree;
}

FlatTree Keywords::start_over_ranks(std::size_t features, int labels) {
    if (!given_.contains("start")) return {};
    FlatTree start = tree("start", features, labels);
    start.key = integers_as<std::uint32_t>("start_key");
    require(start.key.size() == start.feature.size(), "there is one key per node of the start");
    return start;
}

void Keywords::finish() const {
    for (const auto& item : given_) {
        const auto name = nb::cast<std::string>(item.first);
        const auto same = [&](const char* one) { return name == one; };
        if (std::none_of(read_.begin(), read_.end(), same)) throw nb::type_error(("unknown keyword: " + name).c_str());
    }
}

bool obey(const nb::object& reply, const std::function<void(std::int64_t)>& tighten) {
    const auto pair = nb::cast<nb::tuple>(reply);
    if (pair.size() != 2) throw nb::cast_error();
    if (!pair[1].is_none()) tighten(nb::cast<std::int64_t>(pair[1]));
    return nb::cast<bool>(pair[0]);
}

bool report_trees(const std::vector<Improvement>& news, std::int64_t nodes, const nb::object& poll,
                  const std::function<void(std::int64_t)>& tighten) {
    nb::list bounds;
    nb::object tree = nb::none();
    const Improvement* last = nullptr;
    for (const auto& one : news) {
        bounds.append(nb::make_tuple(one.seconds, one.upper, one.lower));
        if (!one.tree.empty()) last = &one;
    }
    if (last) tree = to_object(last->tree);
    return obey(poll(bounds, tree, nodes), tighten);
}

static Message message_of(const nb::object& given) {
    const auto numbers = nb::cast<Array<std::int64_t, 1>>(given);
    require_aligned(numbers);
    return Message(numbers.data(), numbers.data() + numbers.shape(0));
}

Away away_to(const nb::object& ask, int callers) {
    require(callers >= 1 && callers <= 4096, "the callers are not between 1 and 4096");
    if (ask.is_none()) return {};
    return {[ask](const Message& question) {
                const nb::gil_scoped_acquire gil;
                const nb::object reply = ask(to_array(question));
                return reply.is_none() ? Message{} : message_of(reply);
            },
            callers};
}

nb::object answer_part(Stoppable& control, const nb::object& question, const nb::object& poll,
                       const std::function<Message(const Message&)>& answer) {
    const Message asked = message_of(question);
    Message reply;
    run_again(control, std::numeric_limits<double>::infinity(), poll, [&] { reply = answer(asked); });
    return reply.empty() ? nb::none() : to_array(reply);
}

bool run_again(Stoppable& control, double time_limit, const nb::object& poll, const std::function<void()>& search) {
    control.stopping = false;
    bool ended = false;
    Stoppable beside;
    const auto is_over = [&] {
        if (beside.seconds() >= time_limit) return true;
        if (!poll.is_none()) return nb::cast<bool>(poll());
        if (PyErr_CheckSignals()) throw nb::python_error();
        return false;
    };
    run_without_gil(
        beside, std::numeric_limits<double>::infinity(),
        [&] {
            try {
                search();
                ended = true;
            } catch (const Stopped&) {
            } catch (const std::bad_alloc&) {
            }
        },
        [&] {
            control.watch_memory();
            try {
                if (is_over()) control.stop();
            } catch (...) {  // `run_without_gil` stops `beside`, which the search does not read
                control.stop();
                throw;
            }
            return false;
        });
    return ended;
}

void run_without_gil(Stoppable& control, double time_limit, const std::function<void()>& search,
                     const std::function<bool()>& poll) {
    const nb::gil_scoped_release release;
    run_beside(control, time_limit, search, [&] {
        if (!poll) return false;
        const nb::gil_scoped_acquire gil;
        try {
            return poll();
        } catch (const nb::python_error& error) {
            if (!error.matches(PyExc_MemoryError)) throw;
            throw std::bad_alloc();
        }
    });
}

}  // namespace treeform
