// Solutions in the order of their rows and cost, each compared with those kept before it: see tidy.hpp.
#include "tidy.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace treeform::totals {

namespace {

constexpr std::size_t kCompared = 256;

/// Whether the first set of words is a part of the second.
bool within(const Amount* a, const Amount* b, int words) {
    Amount outside = 0;
    for (int i = 0; i < words; ++i) outside |= a[i] & ~b[i];
    return outside == 0;
}

}  // namespace

/// The cheapest kept so far of those that carry the same: overall, or by the second of two one-sided rows.
struct Compared::Cheapest {
    const Amount* carried;
    Amount least = kNone;
    std::map<Amount, Amount> stairs;

    bool dominates(Amount cost, Amount second, bool two) const {
        if (!two) return least <= cost;
        const auto at = stairs.upper_bound(second);
        return at != stairs.begin() && std::prev(at)->second <= cost;
    }
    void add(Amount cost, Amount second, bool two) {
        least = std::min(least, cost);
        if (!two) return;
        auto from = stairs.lower_bound(second);
        while (from != stairs.end() && from->second >= cost) from = stairs.erase(from);
        stairs[second] = cost;
    }
};

Compared& Compared::of_this_thread() {
    thread_local Compared one;
    return one;
}

void Compared::begin(std::size_t size, int words, const Dominance& order) {
    order_ = &order, size_ = size, words_ = words;
    equal_ = static_cast<int>(order.equal.size()), rows_ = equal_ + static_cast<int>(order.upper.size());
    width_ = static_cast<std::size_t>(rows_ + 2 + words);
    if (values_.size() < size * width_) values_.resize(size * width_);
}

const std::vector<std::uint32_t>& Compared::kept() {
    sort_by_rows();
    kept_.clear();
    if (!order_->features && order_->upper.size() <= 2)
        keep_few();
    else
        keep_last();
    places_.clear();
    for (std::uint32_t k = 0; k < kept_.size(); ++k) places_.push_back({excess(kept_[k]), k});
    std::sort(places_.begin(), places_.end(),
              [](const Place& a, const Place& b) { return a.first != b.first ? a.first < b.first : a.at < b.at; });
    for (Place& place : places_) place.at = kept_[place.at];
    for (std::size_t k = 0; k < kept_.size(); ++k) kept_[k] = places_[k].at;
    return kept_;
}

/// By the rows, then by cost, by excess, and by what is carried: a solution comes before those that it makes needless.
void Compared::sort_by_rows() {
    places_.clear();
    for (std::uint32_t i = 0; i < size_; ++i) places_.push_back({of(i)[0], i});
    std::sort(places_.begin(), places_.end(), [this](const Place& a, const Place& b) {
        if (a.first != b.first) return a.first < b.first;
        const Amount *x = of(a.at), *y = of(b.at);
        for (std::size_t k = 1; k < width_; ++k)
            if (x[k] != y[k]) return x[k] < y[k];
        return a.at < b.at;
    });
}

bool Compared::in_group(std::uint32_t a, std::uint32_t b) const { return std::equal(of(a), of(a) + equal_, of(b)); }

/// Two one-sided rows at most, whose staircases are kept for everything that is carried.
void Compared::keep_few() {
    const bool two = order_->upper.size() == 2;
    std::vector<Cheapest> cheapest;
    for (const Place& place : places_) {
        const std::uint32_t i = place.at;
        if (!kept_.empty() && !in_group(kept_.back(), i)) cheapest.clear();
        const Amount second = two ? of(i)[equal_ + 1] : 0;
        Cheapest* own = nullptr;
        bool keep = true;
        for (Cheapest& other : cheapest) {
            const bool part = within(other.carried, carried(i), words_);
            if (part && other.dominates(cost(i), second, two)) {
                keep = false;
                break;
            }
            if (part && within(carried(i), other.carried, words_)) own = &other;
        }
        if (!keep) continue;
        kept_.push_back(i);
        if (!own && cheapest.size() < kCompared) own = &cheapest.emplace_back(Cheapest{carried(i), kNone, {}});
        if (own) own->add(cost(i), second, two);
    }
}

void Compared::keep_last() {
    std::size_t group = 0;
    for (const Place& place : places_) {
        const std::uint32_t i = place.at;
        if (!kept_.empty() && !in_group(kept_.back(), i)) group = kept_.size();
        bool keep = true;
        for (std::size_t k = kept_.size(); k > group && kept_.size() - k < kCompared && keep; --k)
            keep = !dominates(kept_[k - 1], i);
        if (keep) kept_.push_back(i);
    }
}

/// Of two solutions of one group.
bool Compared::dominates(std::uint32_t b, std::uint32_t a) const {
    if (cost(b) > cost(a) || !within(carried(b), carried(a), words_)) return false;
    for (int k = equal_; k < rows_; ++k)
        if (of(b)[k] > of(a)[k]) return false;
    return true;
}

}  // namespace treeform::totals
