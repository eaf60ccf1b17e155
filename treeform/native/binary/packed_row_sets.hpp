#pragma once
// The row sets for one lane width. Restriction is a compression of bits: all columns of a subproblem are stored
// densely again, so that the counting kernels always work at full density.
#include <cstring>

#include "layout.hpp"
#include "row_sets.hpp"

namespace treeform::binary {

template <class L, class S>
class PackedRowSets final : public RowSets {
public:
    PackedRowSets(const Points&, const Settings&, Layout&&);
    void root(Node& out) override;
    void child(const Node& parent, int column, int side, Node& out, bool reduced) override;
    void restrict_to(const std::vector<std::uint64_t>& cover, Node& out, bool reduced) override;
    void pairs(Node& node) override;
    void triples(Node& node, const std::atomic<bool>& stopping) override;
    void prepare_distances(Node& node) override;
    Cost shared_mass(const Node& node, int i, int j) const override {
        return layout_.unit * Cost(node.shared.template get<S>()[std::size_t(i) * node.pad + j]);
    }
    int label(const Node& node) const override;
    void class_weights(const Node& node, int column, double* with, double* all) const override;
    int labels() const override { return layout_.labels; }

private:
    static constexpr int kBits = 8 * sizeof(L);
    static int padded(int columns) { return (columns * int(sizeof(L)) + 63) / 64 * 64 / int(sizeof(L)); }
    Bits<L> view(const Node& node, const L* bits) const {
        return {bits, node.columns, node.pad, node.runs.data(), layout_.planes};
    }
    /// Compress the rows whose mask bit is set: fills steps_, out.runs, out.valid, out.chunks.
    template <class MaskOf>
    void plan(const std::vector<Run>& runs, int n_runs, MaskOf mask_of, std::vector<Run>& out_runs,
              std::vector<L>& out_valid);
    void finish(Node& out, bool reduced);
    void count(Node& node);
    void reduce_columns(Node& node);
    void sides(Node& node);
    Cost price(Cost mass, S reward) const {
        if (layout_.mode == Mode::two_classes) return layout_.unit * ((mass / layout_.unit - reward) / 2);
        if (layout_.mode == Mode::classes_and_support && reward < 0) return kNever;
        return mass - layout_.unit * Cost(reward);
    }
    L* scratch(int columns, int chunks) {
        const std::size_t wide = sizeof(L) == 2 ? 2 : 1;
        return scratch_.template take<L>(std::size_t(columns) * chunks * wide + 64 * (chunks + 4) + 4 * columns
                                         + 64 * 4 * (layout_.channels + 1) + 256);
    }

    Layout layout_;
    Cost min_support_;
    const Ops<L, S>& ops_;
    Buffer root_bits_;
    int root_columns_ = 0, root_pad_ = 0, root_chunks_ = 0;
    std::vector<int> root_feature_;
    std::vector<Run> root_runs_;
    std::vector<L> root_valid_;
    std::vector<Step<L>> steps_;
    Buffer spare_bits_, scratch_, inside_, rewards_;
    std::vector<Run> inside_runs_;
    std::vector<L> inside_valid_, new_valid_;
    std::vector<std::uint64_t> column_hash_;
    std::vector<int> order_;
    std::vector<S> raw_;
};

}  // namespace treeform::binary
