// The tests as sets of points, each once: of all thresholds, or of some that are given.
#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <unordered_map>

#include "instance.hpp"

namespace treeform::diagram {
namespace {

/// Words of splits from which on their list is made once, for all: one that grows is copied, and holds twice as many.
constexpr std::size_t kLarge = std::size_t{1} << 17;
/// Points that are sorted into the intervals between thresholds before a look at the clock.
constexpr std::size_t kPointsAtATime = 4096;

/// The sets so far, up to the names of the sides.
class Distinct {
public:
    explicit Distinct(const Instance& in) : in_(in), other_(in.words()) {}

    /// Whether the set is none of those before; it is to be number `split` then.
    bool add(const Word* set, int split) {
        const int words = in_.words();
        without(in_.all.data(), set, other_.data(), words);
        const auto hash = hash_of(set[0] & 1 ? set : other_.data(), words, 0);
        const auto [from, to] = seen_.equal_range(hash);
        for (auto it = from; it != to; ++it) {
            const Word* had = in_.split(it->second);
            if (!std::memcmp(had, set, words * sizeof(Word)) || !std::memcmp(had, other_.data(), words * sizeof(Word)))
                return false;
        }
        seen_.emplace(hash, split);
        return true;
    }

private:
    const Instance& in_;
    std::unordered_multimap<std::uint64_t, int> seen_;
    Set other_;
};

/// How many thresholds the columns have together.
std::size_t number_of_thresholds(const Points& points, const Control& control) {
    std::size_t found = 0;
    std::vector<double> column(points.rows);
    for (std::size_t f = 0; f < points.features; ++f) {
        control.check();
        for (std::size_t p = 0; p < points.rows; ++p) column[p] = points.row(p)[f];
        std::sort(column.begin(), column.end());
        found += std::size_t(std::unique(column.begin(), column.end()) - column.begin()) - 1;
    }
    return found;
}

/// The least and the largest value between two thresholds.
struct Span {
    double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
};

}  // namespace

void Instance::make_splits(const Points& points, Cost min_support, std::size_t memory, const Control& control) {
    const int words = view.words;
    Distinct distinct(*this);
    std::vector<std::uint32_t> order(points.rows);
    Set left(words);
    const Cost weight_all = std::accumulate(weight.begin(), weight.end(), Cost{0});
    first_ = {0};
    for (std::size_t f = 0; f < points.features; ++f) {
        control.check();
        const auto value = [&](std::uint32_t p) { return points.row(p)[f]; };
        std::iota(order.begin(), order.end(), 0u);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return value(a) < value(b); });
        std::fill(left.begin(), left.end(), 0);
        Cost below = 0;
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            left[order[i] / 64] |= Word{1} << (order[i] % 64);
            below += weight[order[i]];
            if (value(order[i]) == value(order[i + 1])) continue;
            if (std::min(below, weight_all - below) < min_support || !distinct.add(left.data(), int(cuts.size())))
                continue;
            const std::size_t next = split_.size() + words;
            if (next * sizeof(Word) > memory || (next > kLarge && next > split_.capacity())) {
                const std::size_t all = number_of_thresholds(points, control) * words;
                if (all * sizeof(Word) > memory) {
                    control.note_refused(all * sizeof(Word));
                    throw std::bad_alloc();
                }
                split_.reserve(all);
            }
            cuts.push_back({int(f), value(order[i]), value(order[i + 1])});
            split_.insert(split_.end(), left.begin(), left.end());
        }
        if (int(cuts.size()) > first_.back()) first_.push_back(int(cuts.size()));
    }
}

void Instance::take_thresholds(const Points& points, Cost min_support, const Control& control) {
    const std::size_t words = std::size_t(view.words);
    const std::int64_t* first = points.first_threshold;
    const std::size_t many = std::size_t(first[points.features]);
    // At first the points between two thresholds, with those below the first one and above the last one.
    split_.assign(many * words, 0);
    std::vector<Span> spans(many + points.features);
    for (std::size_t p = 0; p < points.rows; ++p) {
        if (p % kPointsAtATime == 0) control.check();
        const double* row = points.row(p);
        for (std::size_t f = 0; f < points.features; ++f) {
            const double *begin = points.threshold + first[f], *end = points.threshold + first[f + 1];
            const auto at = std::size_t(std::lower_bound(begin, end, row[f]) - points.threshold);
            Span& span = spans[at + f];
            span.least = std::min(span.least, row[f]), span.most = std::max(span.most, row[f]);
            if (at < std::size_t(first[f + 1])) split_[at * words + p / 64] |= Word{1} << (p % 64);
        }
    }
    Distinct distinct(*this);
    const Cost weight_all = weight_of(all.data());
    first_ = {0};
    for (std::size_t f = 0; f < points.features; ++f) {
        control.check();
        double low = -std::numeric_limits<double>::infinity();
        Set left(words);
        for (auto at = std::size_t(first[f]); at < std::size_t(first[f + 1]); ++at) {
            const Word* between = split_.data() + at * words;
            for (std::size_t w = 0; w < words; ++w) left[w] |= between[w];
            low = std::max(low, spans[at + f].most);
            std::size_t next = at + 1;  // the next interval with a point
            while (next < std::size_t(first[f + 1]) && spans[next + f].least > spans[next + f].most) ++next;
            const double high = spans[next + f].least;
            const Cost below = weight_of(left.data());
            if (std::min(below, weight_all - below) < std::max<Cost>(min_support, 1)) continue;
            if (!distinct.add(left.data(), int(cuts.size()))) continue;
            std::copy(left.begin(), left.end(), split_.begin() + std::ptrdiff_t(cuts.size() * words));
            cuts.push_back({int(f), low, high});
        }
        if (int(cuts.size()) > first_.back()) first_.push_back(int(cuts.size()));
    }
    split_.resize(cuts.size() * words);
}

}  // namespace treeform::diagram
