#pragma once
// Class weights of the rows below any cut of a feature in a node: running sums at every few rows, and the rest added up
// on request. Of two classes of unit weights all is added up on request, which a compiler does many rows at a time.
#include <vector>

#include "table.hpp"

namespace treeform::contree {

template <class W>
class Prefixes {
public:
    using Id = typename W::Id;
    using Cost = typename W::Cost;

    explicit Prefixes(const Table<W>& table) : table_(table) {}

    void begin(const Node<W>& node, int feature) {
        rows_ = node.order(feature), labels_ = node.label(feature), n_ = node.n;
        const int k = table_.classes;
        quick_ = table_.plain && node.unlabelled_weight == 0;
        if (quick_ && k == 2) {
            ones_ = node.weight[1];
            return;
        }
        if (k == 2) return add_up_two();
        block_ = (2 * static_cast<std::size_t>(k) + 3) / 4 * 4;  // as many sums as rows to add on request
        const std::size_t blocks = node.n / block_;
        if (sums_.size() < (blocks + 1) * k) sums_.resize((blocks + 1) * k);
        std::fill_n(sums_.data(), k, Cost{0});
        if (quick_) return count_blocks(blocks);
        for (std::size_t b = 1; b <= blocks; ++b) {
            Cost* here = sums_.data() + b * k;
            std::copy_n(here - k, k, here);
            add((b - 1) * block_, b * block_, here);
        }
    }

    /// Weight per class of the first `rows` rows.
    void below(std::size_t rows, std::vector<Cost>& weight) const {
        const int k = table_.classes;
        if (quick_ && k == 2) {
            weight[1] = 2 * rows <= n_ ? ones(0, rows) : ones_ - ones(rows, n_);
            weight[0] = static_cast<Cost>(rows) - weight[1];
            return;
        }
        const std::size_t block = rows / block_;
        std::copy_n(sums_.data() + block * k, k, weight.data());
        add(block * block_, rows, weight.data());
    }

private:
    const Table<W>& table_;
    const Id* rows_ = nullptr;
    const std::uint16_t* labels_ = nullptr;
    std::size_t n_ = 0, block_ = 4;
    bool quick_ = true;  // unit weights, no rows without a label
    Cost ones_ = 0;
    std::vector<Cost> sums_, four_;

    /// Of two classes where rows have weights.
    void add_up_two() {
        block_ = 32;
        const std::size_t blocks = n_ / block_;
        if (sums_.size() < 2 * (blocks + 1)) sums_.resize(2 * (blocks + 1));
        Cost zero = 0, one = 0;
        for (std::size_t b = 0; b < blocks; ++b) {
            sums_[2 * b] = zero, sums_[2 * b + 1] = one;
            for (std::size_t i = b * block_; i < (b + 1) * block_; ++i) {
                const Cost weight = table_.weight_of(rows_[i]);
                zero += labels_[i] == 0 ? weight : Cost{0}, one += labels_[i] == 1 ? weight : Cost{0};
            }
        }
        sums_[2 * blocks] = zero, sums_[2 * blocks + 1] = one;
    }
    void add(std::size_t from, std::size_t to, Cost* into) const {
        for (std::size_t i = from; i < to; ++i)
            if (labels_[i] != kNoLabel) into[labels_[i]] += table_.weight_of(rows_[i]);
    }
    Cost ones(std::size_t from, std::size_t to) const {
        std::uint32_t sum = 0;
        for (std::size_t i = from; i < to; ++i) sum += labels_[i];
        return static_cast<Cost>(sum);
    }
    /// Four tables in turn: equal labels in a row would wait for each other's sums.
    void count_blocks(std::size_t blocks) {
        const int k = table_.classes;
        four_.assign(4 * static_cast<std::size_t>(k), 0);
        Cost *h0 = four_.data(), *h1 = h0 + k, *h2 = h1 + k, *h3 = h2 + k;
        for (std::size_t b = 1; b <= blocks; ++b) {
            for (std::size_t i = (b - 1) * block_; i < b * block_; i += 4)
                ++h0[labels_[i]], ++h1[labels_[i + 1]], ++h2[labels_[i + 2]], ++h3[labels_[i + 3]];
            Cost* here = sums_.data() + b * k;
            for (int y = 0; y < k; ++y) here[y] = h0[y] + h1[y] + h2[y] + h3[y];
        }
    }
};

}  // namespace treeform::contree
