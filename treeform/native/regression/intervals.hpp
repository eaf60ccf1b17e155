#pragma once
// The thresholds of one outer feature, searched as intervals between thresholds that were evaluated.
//
// With A in B, opt(A) <= opt(B) for every leaf cost that is a least sum over its samples: keep B's tree and values, and
// drop samples. So a threshold between u and v costs at least L(u) + R(v), and the same holds for the best child tree
// with a given feature at its root. Source: Brita et al., AAAI 2025, for classification.
#include <algorithm>
#include <cstdint>
#include <ranges>
#include <utility>
#include <vector>

#include "problem.hpp"
#include "subset.hpp"

namespace treeform::regression {

/// Lower bounds on the cost of both children of a threshold: by the feature at the child's root, and over all of them.
/// A bound by feature includes the child that is a leaf.
struct Bounds {
    std::vector<double> left, right;
    double left_least = 0, right_least = 0;

    void update() {
        left_least = std::max(left_least, *std::min_element(left.begin(), left.end()));
        right_least = std::max(right_least, *std::min_element(right.begin(), right.end()));
    }
    double sum() const { return left_least + right_least; }
};

/// One threshold to evaluate.
struct Job {
    std::size_t cut = 0;  // position among the cuts
    std::uint32_t u = 0, v = 0;  // records of its neighbours
    double lower = 0;  // of the interval
    std::uint32_t reach = 0;  // rows from here to the farther end of the interval
    Bounds bounds;
};

/// Two parts of the rows, and what is evaluated of the threshold between them.
struct Parts {
    Subset left, right;
    Job job;
};

class Intervals {
public:
    /// Begins anew: `whole` are bounds on child trees over all rows, by feature, and `least` over all features.
    void begin(Cuts&& cuts, std::size_t n, const std::vector<double>& whole, double least, double price,
               std::int64_t first_key) {
        cuts_ = std::move(cuts), features_ = whole.size(), price_ = price, first_key_ = first_key;
        records_.clear(), bounds_.clear(), heap_.clear();
        const std::vector<double> nothing(features_, 0.0);
        const auto a = record(-1, 0, nothing, whole, 0, least);
        const auto b = record(static_cast<std::ptrdiff_t>(cuts_.size()), n, whole, nothing, least, 0);
        if (cuts_.size() > 0) heap_.push_back({least_between(a, b), a, b});
    }
    Cut cut(const Job& job) const { return cuts_[job.cut]; }
    Cuts take_cuts() { return std::move(cuts_); }
    /// No threshold that is left to evaluate costs less.
    double lower() const { return heap_.empty() ? kInfinite : heap_.front().lower; }
    std::size_t bytes() const { return cuts_.bytes() + records_.capacity() * sizeof(Record) + bounds_.capacity() * 8; }

    /// The next threshold, with the bounds that its neighbours give; there has to be one.
    void next(Job& job) {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const Interval one = heap_.back();
        heap_.pop_back();
        const Record &a = records_[one.u], &b = records_[one.v];
        const auto first = static_cast<std::size_t>(a.cut + 1), last = static_cast<std::size_t>(b.cut - 1);
        job.cut = choose(first, last);
        job.u = one.u, job.v = one.v, job.lower = one.lower;
        const std::uint32_t here = cuts_[job.cut].below;
        job.reach = std::max(here - cuts_[first].below, cuts_[last].below - here);
        job.bounds.left.assign(left_of(a), left_of(a) + features_);
        job.bounds.right.assign(right_of(b), right_of(b) + features_);
        job.bounds.left_least = a.left, job.bounds.right_least = b.right;
        job.bounds.update();
    }
    /// What has become known of the threshold; intervals of at least `most` are dropped.
    void done(const Job& job, double most) {
        const Bounds& now = job.bounds;
        const auto here = record(static_cast<std::ptrdiff_t>(job.cut), cuts_.below(job.cut), now.left, now.right,
                                 now.left_least, now.right_least);
        push(job.u, here, job.lower, most);
        push(here, job.v, job.lower, most);
    }

private:
    struct Record {
        std::ptrdiff_t cut;
        std::size_t below;
        double left, right;
        std::size_t bounds;  // of the left child by feature, and then of the right one
    };
    struct Interval {
        double lower;
        std::uint32_t u, v;
    };
    Cuts cuts_;
    std::size_t features_ = 0;
    double price_ = 0;
    std::int64_t first_key_ = -1;
    std::vector<Record> records_;
    std::vector<double> bounds_;
    std::vector<Interval> heap_;

    static bool later(const Interval& a, const Interval& b) { return a.lower > b.lower; }
    const double* left_of(const Record& one) const { return bounds_.data() + one.bounds; }
    const double* right_of(const Record& one) const { return bounds_.data() + one.bounds + features_; }
    double least_between(std::uint32_t u, std::uint32_t v) const {
        return records_[u].left + records_[v].right + price_;
    }
    std::uint32_t record(std::ptrdiff_t cut, std::size_t below, const std::vector<double>& left,
                         const std::vector<double>& right, double left_least, double right_least) {
        records_.push_back({cut, below, left_least, right_least, bounds_.size()});
        bounds_.insert(bounds_.end(), left.begin(), left.end());
        bounds_.insert(bounds_.end(), right.begin(), right.end());
        return static_cast<std::uint32_t>(records_.size() - 1);
    }
    void push(std::uint32_t u, std::uint32_t v, double lower, double most) {
        if (records_[u].cut + 1 >= records_[v].cut) return;
        const double now = std::max(lower, least_between(u, v));
        if (now >= most) return;
        heap_.push_back({now, u, v});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    /// The cut that halves the rows of the interval; at first the one at the key that was given.
    std::size_t choose(std::size_t first, std::size_t last) {
        const auto from_on = [&](const auto& before) {
            return *std::ranges::partition_point(std::views::iota(first, last), before);
        };
        if (first_key_ >= 0) {
            const auto key = static_cast<std::uint32_t>(std::exchange(first_key_, -1));
            return from_on([&](std::size_t k) { return cuts_.key(k) < key; });
        }
        const std::uint32_t middle = (cuts_.below(first) + cuts_.below(last)) / 2;
        const auto at = from_on([&](std::size_t k) { return cuts_.below(k) < middle; });
        return at > first && middle - cuts_.below(at - 1) < cuts_.below(at) - middle ? at - 1 : at;
    }
};

}  // namespace treeform::regression
