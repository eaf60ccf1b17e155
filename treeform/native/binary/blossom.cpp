// Blossom (Demirovic, Hebrard, Jean: "Blossom: an anytime algorithm for computing optimal decision trees", ICML 2023).
//
// The state is one decision tree. An open leaf (a "bud" in the paper) is a branch without a test. While there are open
// leaves, the oldest one (FIFO) gets its next untried feature as test, which adds two open leaves. When there are none
// the tree is complete; the last test is removed, and its branch becomes an open leaf again if untried features are
// left and it may still improve the incumbent: for every ancestor b'
// the costs of the closed siblings on the way from b' must stay below the best tree known for b' (the paper's
// lower bound lb(b', b)). Otherwise the branch is closed. Every best cost is propagated to the root at once.
//
// Candidates are in increasing order of Gini impurity. The last levels are not searched: a branch with two tests left
// is solved from its pair table (the paper stops one level later, with the error as the order of the last tests).
//
// Memory: the paper's algorithm needs one record per branch. The rows of a branch are stored while there is room (as
// much as the packed data, plus 32 MB), and otherwise made again from its path, so memory stays linear in the data
// at any depth.
//
// Threads share the candidates of the root: each worker searches the trees that begin with the next one.
#include "blossom.hpp"

#include "../common/workers.hpp"
#include "search.hpp"

namespace treeform::binary {

void run_blossom(const Points& points, const Settings& settings, Control& control, Outcome& out) {
    auto first = make_row_sets(points, settings);
    RowSets& row_sets = *first;
    out.simd = row_sets.simd, out.rows = row_sets.points, out.planes = row_sets.planes,
    out.lane_bits = row_sets.lane_bits;
    SharedIncumbent shared(row_sets, settings, control);
    std::mutex adding;
    const auto grow = [&](RowSets& rows) {
        rows.limits = &control;
        Blossom search(rows, settings, shared, control);
        rows.counters = &search.counters;
        const auto ended = [&] {
            rows.counters = nullptr;
            const std::lock_guard lock(adding);
            count_in(out.counters, search.counters);
        };
        try {
            search.run();
        } catch (...) {
            ended();
            throw;
        }
        ended();
    };
    try {
        Node root;
        row_sets.root(root);
        if (Search::takes_long(root) || !settings.start.empty()) {
            Search first(make_row_sets(points, settings), settings, shared, control, 0);
            first.first_tree();
            if (!settings.start.empty()) first.follow(settings.start);
        }
        run_workers(
            std::max(1, settings.threads), [&](int w) { grow(w == 0 ? row_sets : *make_row_sets(points, settings)); },
            [&] { control.stop(); });
        out.complete = true;
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {
        out.memory_stop = true;
    }
    out.lower = row_sets.offset + (out.complete ? shared.limit() : 0);
    if (shared.plan() && shared.upper() < shared.wanted()) {
        TreeWriter writer(row_sets, settings);
        out.tree = writer.write(shared.plan());
    }
}

Blossom::Blossom(RowSets& row_sets, const Settings& settings, SharedIncumbent& shared, const Control& control)
    : row_sets_(row_sets), settings_(settings), shared_(shared), control_(control), writer_(row_sets, settings) {
    store_limit_ = std::size_t(row_sets.words) * 8 * row_sets.literal.size() + (std::size_t(32) << 20);
    store_limit_ /= std::size_t(std::max(1, settings.threads));
}

void Blossom::run() {
    const int root = add_branch(-1, -1, 0);
    propagate(root);
    if (!branches_[root].closed) open_leaves_.push_back(root);
    while (!sequence_.empty() || !open_leaves_.empty()) {
        control_.check();
        if (!open_leaves_.empty()) {
            const int at = open_leaves_.front();
            open_leaves_.pop_front();
            expand(at);
            continue;
        }
        while (!sequence_.empty()) {
            const int at = sequence_.back();
            sequence_.pop_back();
            Branch& b = branches_[at];
            for (int& c : b.child) release(c), c = -1;
            b.feature = -1;
            if (worth_trying(at)) {
                open_leaves_.push_back(at);
                break;
            }
            b.closed = true;
        }
    }
}

std::size_t Blossom::bytes_of(const Node& node) const {
    const std::size_t lane = std::size_t(row_sets_.lane_bits) / 8;
    return (std::size_t(node.chunks) * node.pad * 2 + std::size_t(node.columns) * node.pad) * lane + node.columns * 80
           + 512;
}

/// A new branch below `parent` (or the root), with its best tree so far.
int Blossom::add_branch(int parent, int feature, int value) {
    int at;
    if (free_.empty())
        at = int(branches_.size()), branches_.emplace_back();
    else
        at = free_.back(), free_.pop_back();
    Branch& b = branches_[at];
    b.candidates.clear();
    b.path.clear();
    b.next = 0, b.parent = parent, b.value = value, b.level = 0;
    b.feature = b.child[0] = b.child[1] = -1;
    b.closed = false;
    control_.count(counters.nodes);
    if (parent < 0) {
        row_sets_.root(b.node);
    } else {
        Branch& above = branches_[parent];
        b.level = above.level + 1;
        b.path = above.path;
        b.path.push_back(2 * std::uint32_t(feature) + std::uint32_t(value));
        const Node& rows = rows_of(above, spare_);
        const int column = int(std::find(rows.feature.begin(), rows.feature.end(), feature) - rows.feature.begin());
        const int side = bool(value) != bool(rows.flip[column]) ? 0 : 1;
        row_sets_.child(rows, column, side, b.node, settings_.depth - b.level >= 2);
    }
    const int left = settings_.depth - b.level;
    b.best = b.node.leaf;
    b.plan = b.best < kNever ? Plan::a_leaf() : nullptr;
    b.stored = false;
    if (left == 0 || b.node.columns == 0 || b.node.leaf <= settings_.node_penalty) {
        b.closed = true;
        return at;
    }
    const int solve_directly = std::min(left, settings_.exact_depth);
    const Solved s = solve_directly == 1 ? solve_one(b.node, 1, settings_.node_penalty)
                     : solve_directly == 2 || left > 3
                         ? solve_two(row_sets_, b.node, 3, settings_.node_penalty)
                         : solve_three(row_sets_, b.node, 7, settings_.node_penalty, control_.stopping);
    control_.check();
    if (s.cost < b.best) b.best = s.cost, b.plan = plan_of(b.node, s, left > 3 ? 2 : solve_directly);
    if (left <= settings_.exact_depth) {
        b.closed = true;
        return at;
    }
    rank(b);
    b.closed = b.candidates.empty();
    const std::size_t bytes = bytes_of(b.node);
    if (stored_ + bytes <= store_limit_)
        stored_ += bytes, b.stored = true;
    else
        b.node = Node();
    return at;
}

/// The rows of a branch: stored, or made again.
const Node& Blossom::rows_of(Branch& branch, Node& spare) {
    if (branch.stored) return branch.node;
    std::vector<std::uint64_t> cover(row_sets_.words, ~std::uint64_t(0));
    if (row_sets_.points % 64) cover.back() = (std::uint64_t(1) << (row_sets_.points % 64)) - 1;
    for (const std::uint32_t literal : branch.path)
        for (int w = 0; w < row_sets_.words; ++w) {
            const std::uint64_t x = row_sets_.literal[literal >> 1][w];
            cover[w] &= literal & 1 ? x : ~x;
        }
    spare.path.clear();
    row_sets_.restrict_to(cover, spare, false);
    return spare;
}

/// Increasing Gini impurity: n - sum over sides and classes of w^2 / side.
void Blossom::rank(Branch& b) {
    const Node& node = b.node;
    const int k = row_sets_.labels();
    std::vector<double> with(k), all(k), score(node.columns);
    std::vector<int> order;
    for (int j = 0; j < node.columns; ++j) {
        if (node.side_leaf[0][j] >= kNever || node.side_leaf[1][j] >= kNever) continue;
        row_sets_.class_weights(node, j, with.data(), all.data());
        double n1 = 0, n = 0, pure = 0;
        for (int c = 0; c < k; ++c) n1 += with[c], n += all[c];
        for (int c = 0; c < k; ++c) {
            const double w0 = all[c] - with[c];
            pure += (n1 > 0 ? with[c] * with[c] / n1 : 0) + (n > n1 ? w0 * w0 / (n - n1) : 0);
        }
        score[j] = n - pure;
        order.push_back(j);
    }
    std::stable_sort(order.begin(), order.end(), [&](int x, int y) { return score[x] < score[y]; });
    for (const int j : order) b.candidates.push_back(node.feature[j]);
}

/// Give the branch its next test. Candidates whose first side alone is too expensive are passed over.
void Blossom::expand(int at) {
    Branch& b = branches_[at];
    while (b.best > settings_.node_penalty) {
        if (b.parent < 0) b.next = shared_.next++, b.best = std::min(b.best, shared_.limit());
        if (b.next >= b.candidates.size()) break;
        const int feature = b.candidates[b.next++];
        const int zero = add_branch(at, feature, 0);
        if (branches_[zero].closed && plus(branches_[zero].best, settings_.node_penalty) >= b.best) {
            release(zero);
            ++counters.pruned_bound;
            continue;
        }
        b.feature = feature;
        b.child[0] = zero, b.child[1] = add_branch(at, feature, 1);
        sequence_.push_back(at);
        for (const int c : b.child)
            if (!branches_[c].closed) open_leaves_.push_back(c);
        propagate(b.child[0]);
        return;
    }
    b.closed = true;
}

/// lb(b', b) < best[b'] for all ancestors b', and features are left.
bool Blossom::worth_trying(int at) const {
    const Branch* b = &branches_[at];
    if (b->next >= b->candidates.size() || b->best <= settings_.node_penalty) return false;
    Cost lower = settings_.node_penalty;
    if (lower >= b->best) return false;
    while (b->parent >= 0) {
        const Branch& above = branches_[b->parent];
        const Branch& sibling = branches_[above.child[1 - b->value]];
        lower += settings_.node_penalty + (sibling.closed ? sibling.best : 0);
        const Cost limit = above.parent < 0 ? std::min(above.best, shared_.limit()) : above.best;
        if (lower >= limit) return false;
        b = &above;
    }
    return true;
}

/// A better tree for a branch may make a better one for its parent, and so on up to the incumbent.
void Blossom::propagate(int at) {
    while (branches_[at].parent >= 0) {
        Branch& above = branches_[branches_[at].parent];
        if (above.child[0] < 0 || above.child[1] < 0) return;
        const Branch &zero = branches_[above.child[0]], &one = branches_[above.child[1]];
        const Cost cost = plus(plus(zero.best, one.best), settings_.node_penalty);
        if (cost >= above.best) return;
        above.best = cost;
        above.plan = Plan::test(above.feature, zero.plan, one.plan);
        at = branches_[at].parent;
    }
    const Branch& root = branches_[at];
    if (root.best < shared_.upper() && root.plan) shared_.offer(root.best, root.plan, writer_);
}

void Blossom::release(int at) {
    if (at < 0) return;
    Branch& b = branches_[at];
    if (b.stored) stored_ -= bytes_of(b.node);
    b.stored = false;
    free_.push_back(at);
}

}  // namespace treeform::binary
