#pragma once
// What the improvement search asks about a set of rows, answered by the exact searches of contree: see `Space` in
// builder.hpp. Costs are whole numbers, less the table's offset; the price of a test is part of them.
#include <algorithm>
#include <vector>

#include "../contree/listed_rows.hpp"
#include "../contree/search.hpp"
#include "each_feature.hpp"
#include "few_columns.hpp"
#include "impurity.hpp"
#include "on_sample.hpp"
#include "part.hpp"
#include "random.hpp"
#include "routes.hpp"
#include "tree.hpp"

namespace treeform::deep {

template <class W>
class ClassSpace {
public:
    using Cost = typename W::Cost;
    using Node = contree::Node<W>;
    using Rows = Part<W>;
    using Ptr = TreePtr<Cost>;
    using Scans = contree::ScanTable<typename W::Key, typename W::Sum>;
    static constexpr Cost kInf = contree::IntervalSearch<W>::kInf;

    /// `all` holds the rows of the table; with `guesses` good trees are enough.
    ClassSpace(const contree::Table<W>& table, const Node& all, const contree::Settings& rules,
               contree::Control& control, const Scans& scans, bool guesses = false)
        : table_(table), rules_(rules), control_(control), guesses_(guesses),
          penalty_(static_cast<Cost>(rules.node_penalty)), support_(static_cast<Cost>(rules.min_support)),
          search_(table, rules, control, scans), each_(table, rules, control, counters_, scans),
          listed_(table, all, control), read_(table, all, control),
          kept_(contree::most_kept(table.n, static_cast<std::size_t>(table.features))), stump_(table),
          impurity_(table, listed_), division_(table, control), by_(table.features), one_(table.classes),
          other_(table.classes) {
        search_.read_lists(read_), each_.read_lists(read_);
    }

    static Cost infinite() { return kInf; }
    static bool better(Cost a, Cost b) { return a < b; }
    /// A cost that is so many hundredths, and one unit, above another one.
    static Cost above(Cost cost, int hundredths) { return cost + 1 + cost / 100 * hundredths; }
    std::uint64_t work() const { return search_.work() + each_.work() + listed_.work() + work_; }
    void check() const { control_.check(); }
    int features() const { return table_.features; }
    std::size_t size(const Rows& part) const { return part.node().n; }
    std::size_t depth_two_work(const Rows& part) const {
        return deep::depth_two_work(part.node().n, static_cast<std::size_t>(table_.features), table_.classes);
    }

    /// Tests that a tree of these rows has at most, by the minimum support of each leaf.
    int most_tests(const Rows& part) {
        if (support_ <= 1) return kAnyTests;
        return int(std::clamp<Cost>(support_of(table_, division_.read(part)) / support_, 1, kAnyTests)) - 1;
    }

    /// Whether tests have a price, or leaves a minimum support: then fewer levels are often as good.
    bool has_rules() const { return penalty_ > 0 || support_ > 1; }

    /// Whether good trees are enough: tests have a price so that there are few of them.
    bool guesses() const { return guesses_; }

    /// A hash of the set of rows, and of what its leaves need.
    std::uint64_t hash(const Rows& part) const { return scrambled(static_cast<std::uint64_t>(support_)) + part.hash; }

    Ptr leaf(const Rows& part) const { return leaf_of(part.node().weight); }
    bool may_clash() const { return !rules_.clashes.empty(); }
    /// Whether a side of a tree has no test because its labels would clash with those of the other one.
    bool needs_leaf(const Tree<Cost>& tree, int side) const {
        const contree::Clash clash = rules_.clash_of(tree.test.feature);
        const std::uint64_t labels = side ? tree.left->labels & clash.below : tree.right->labels & clash.above;
        return labels != 0 && (side ? tree.right : tree.left)->is_leaf();
    }
    Cost price() const { return penalty_; }
    /// A test above two trees; where labels clash at it, one of them becomes a leaf.
    Ptr join(Test test, Ptr left, Ptr right) const {
        if (clash(test.feature, *left, *right)) {
            const contree::Clash clash = rules_.clash_of(test.feature);
            const Ptr low = leaf_for(left->as_leaf, clash.below), high = leaf_for(right->as_leaf, clash.above);
            better(left->cost + high->cost, low->cost + right->cost) ? void(right = high) : void(left = low);
        }
        const Cost cost = left->cost + right->cost + penalty_;
        const int tests = left->tests + right->tests + 1, height = height_above(*left, *right);
        Tree<Cost> tree{test, cost, 0, tests, height, std::move(left), std::move(right)};
        if (may_clash()) {
            tree.labels = tree.left->labels | tree.right->labels, tree.as_leaf = tree.left->as_leaf;
            for (std::size_t a = 0; a < tree.as_leaf.size(); ++a) tree.as_leaf[a] += tree.right->as_leaf[a];
        }
        return std::make_shared<const Tree<Cost>>(std::move(tree));
    }
    /// The best tree of that depth if it costs less than `cutoff`; else null; `hint` is a root test to try first. With a
    /// minimum support, a good tree in place of the best one of depth two, except of all rows.
    Ptr solve(const Rows& part, int depth, Cost cutoff, Test hint, std::int64_t budget = contree::kNone) {
        const Node& rows = depth > 2 ? listed_.whole(division_.read(part)) : read_as_list(part);
        const contree::Subproblem<W> task{rows, depth, budget, cutoff, support_, 0, 0, nullptr, hint};
        const auto reply = search_.solve(0, task, by_.data(), 0, may_guess(rows));
        if (is_large(rows)) search_.release();
        picks_ = depth > 2 ? &listed_ : &read_;
        Ptr tree;
        if (reply.found)
            tree = reply.plan || reply.kind != contree::Plan::split
                       ? written_out(rows, reply.as_plan())
                       : low_tree(rows, reply.test, reply.left, reply.right, reply.left_feature, reply.right_feature);
        picks_ = &listed_;
        if (is_large(rows)) listed_.release(), read_.release();
        return tree;
    }

    /// The root test of a tree of depth two that costs at most `gap` more than the best one, or with a minimum support
    /// and of a part of the rows of a good one; without a feature if that is a leaf.
    Test root_test(const Rows& part, Cost gap) {
        const Node& rows = read_as_list(part);
        const contree::Subproblem<W> task{rows, 2, 3, kInf, support_, 0, 0, nullptr, {}};
        const Test test = search_.solve(0, task, by_.data(), gap, may_guess(rows)).as_test();
        if (is_large(rows)) search_.release(), read_.release();
        return test;
    }

    /// For each feature its best test by the trees of depth two that begin with it.
    std::vector<Candidate<Cost>> tests(const Rows& part) {
        const Node& rows = read_as_list(part);
        const auto found = each_.best({rows, 2, 3, kInf, support_, 0, 0, nullptr, {}}, guesses_);
        if (is_large(rows)) each_.release(), read_.release();
        return found;
    }

    /// Whether both sides have rows, and enough weight for a leaf.
    bool split(const Rows& part, Test test, Rows& left, Rows& right) {
        const Node& rows = division_.read(part);
        left.undivided = right.undivided = nullptr;
        const bool listed = weigh_sides(rows, test, left.own, right.own);
        if (left.own.n == 0 || right.own.n == 0) return false;
        if (support_ > 0 && !supported(rows, test)) return false;
        hash_sides(part, test.feature, listed, left, right);
        if (listed) return true;
        work_ += rows.n * static_cast<std::size_t>(table_.features) * 2;
        division_.later(part, test, left, right);
        if (is_large(rows)) division_.read(left);  // then one is given back before the other one is in work
        return true;
    }

    /// Rows that are not asked for again before they are made anew: many are not kept for that.
    void give_back(Rows& part) const {
        if (!part.undivided && part.own.keys.size() > kept_ / 4) part = {};
    }

    /// About `wanted` of the rows, by chance.
    void sample(const Rows& part, std::size_t wanted, Random& random, Rows& sampled) {
        const Node& rows = division_.read(part);
        Node& out = sampled.own;
        const std::uint64_t salt = random.next(), limit = ~std::uint64_t{0} / rows.n * wanted;
        const auto taken = [&](auto row) { return scrambled(salt ^ row) < limit; };
        out.n = 0, out.weight.assign(table_.classes, 0), out.unlabelled_weight = out.unlabelled_mass = 0;
        for (std::size_t k = 0; k < rows.n; ++k)
            if (const auto row = rows.order(0)[k]; taken(row)) ++out.n, contree::weigh(table_, out, row, table_.label[row]);
        contree::add_totals(table_, out);
        out.reserve(out.n, table_.features);
        work_ += 2 * rows.n * static_cast<std::size_t>(table_.features);
        for (int f = 0; f < table_.features; ++f) {
            control_.check();
            const auto* from = (listed_.is_list(rows) ? listed_.by(rows, f) : rows).order(f);
            auto *order = out.order(f), *end = order;
            for (std::size_t k = 0; k < rows.n; ++k)
                if (taken(from[k])) *end++ = from[k];
            for (std::size_t k = 0; k < out.n; ++k)
                out.key(f)[k] = table_.rank[f][order[k]], out.label(f)[k] = table_.label[order[k]];
        }
        sampled.hash = Rows::hash_of(out.order(0), out.n);
    }

    OnSample<Cost> on_sample(const Rows& rows, const Rows& sample) { return {support_, size(sample), size(rows)}; }

    /// For each feature its test of the least Gini impurity, and how good it is; -1 where there is none.
    void greedy_tests(const Rows& part, std::vector<double>& gain, std::vector<Test>& test) {
        const Node& rows = division_.read(part);
        gain.assign(static_cast<std::size_t>(table_.features), -1);
        test.assign(gain.size(), Test{});
        for (int f = 0; f < table_.features; ++f) {
            control_.check();
            const auto at = static_cast<std::size_t>(f);
            impurity_.improve(rows, f, support_, gain[at], test[at]);
        }
        work_ += rows.n * static_cast<std::size_t>(table_.features);
    }
    /// The test of the least Gini impurity, as CART chooses it; without a feature if there is none.
    Test greedy_test(const Rows& part) {
        const Node& rows = division_.read(part);
        Test best;
        double most = -1;
        for (int f = 0; f < table_.features; ++f) {
            control_.check();
            impurity_.improve(rows, f, support_, most, best);
        }
        work_ += rows.n * static_cast<std::size_t>(table_.features);
        return best;
    }

    /// For each feature the test that sends most cost of rows to that of two trees which costs less on them. With
    /// `noise`, one row in so many counts for either side by chance.
    std::vector<Candidate<Cost>> routing_tests(const Rows& part, const Tree<Cost>& left, const Tree<Cost>& right,
                                               Random& random, int noise) {
        const Node& rows = division_.read(part);
        const Routes to_left(left, table_.rank), to_right(right, table_.rank);
        gain_.resize(table_.n);  // not every space is asked for them
        for (std::size_t k = 0; k < rows.n; ++k) {
            if (k % kPolled == 0) control_.check();
            const auto row = rows.order(0)[k];
            const Cost* cost = table_.cost.data() + table_.label[row] * static_cast<std::size_t>(table_.predictions);
            const auto in = [&](const auto& tree) { return cost[static_cast<int>(tree.value(row))]; };
            Cost gain = table_.weight_of(row) * (in(to_right) - in(to_left));
            if (noise > 0 && random.below(static_cast<std::uint64_t>(noise)) == 0)
                gain += random.below(2) ? table_.mass_of(row) : -table_.mass_of(row);
            gain_[row] = gain;
        }
        work_ += rows.n * static_cast<std::size_t>(table_.features + 8);
        std::vector<Candidate<Cost>> found;
        contree::Cuts<W> cuts;
        for (int f = 0; f < table_.features; ++f) {
            control_.check();
            if (clash(f, left, right)) continue;
            const Node& sorted = listed_.by(rows, f);
            cuts.take_keys(table_, sorted, f, support_);
            if (cuts.empty()) continue;
            const auto* order = sorted.order(f);
            const auto* key = sorted.key(f);
            Cost sum = 0, most = -kInf;
            std::uint32_t at = 0;
            for (int k = 1; k <= cuts.last(); ++k) {
                sum += gain_[order[k - 1]];
                if (k >= cuts.first() && key[k] != key[k - 1] && sum > most) most = sum, at = key[k];
            }
            if (most > -kInf) found.push_back({{f, at}, -most});
        }
        return found;
    }

    /// A test at one of the cuts, by chance.
    Test random_test(const Rows& part, Random& random) {
        const Node& rows = division_.read(part);
        const int f = static_cast<int>(random.below(static_cast<std::uint64_t>(table_.features)));
        const auto k = static_cast<std::size_t>(random.below(rows.n));
        return {f, table_.rank[f][rows.order(f)[k]]};
    }

    /// The same feature, and a threshold nearby; without a feature if that leaves the rows.
    Test near_test(const Rows& part, Test test, Random& random) {
        const Node& rows = division_.read(part);
        const auto* key = listed_.by(rows, test.feature).key(test.feature);
        const auto at = static_cast<std::size_t>(std::lower_bound(key, key + rows.n, test.key) - key);
        const std::size_t to = random.near(at, rows.n);
        return to < rows.n ? Test{test.feature, key[to]} : Test{};
    }

    /// The tests of a tree as far as they divide the rows, with the best leaves for them.
    Ptr relabelled(const Rows& part, const Ptr& tree) {
        const Node& rows = division_.read(part);
        std::vector<typename W::Id> list(rows.order(0), rows.order(0) + rows.n);
        std::vector<Cost> weight;
        Cost support = 0;
        return relabelled(*tree, list.data(), list.data() + rows.n, weight, support);
    }

    contree::PlanPtr plan(const Ptr& tree) const {
        using contree::Plan;
        if (tree->is_leaf() && !may_clash()) return Plan::of(Plan::leaf);
        if (tree->is_leaf()) return std::make_shared<const Plan>(Plan{Plan::leaf, {}, {}, {}, int(tree->value)});
        return std::make_shared<const Plan>(Plan{Plan::split, tree->test, plan(tree->left), plan(tree->right)});
    }
    /// A plan with all tests in place.
    Ptr written_out(const Node& rows, const contree::PlanPtr& plan) {
        using contree::Plan;
        if (plan->kind == Plan::leaf) return leaf_of(rows.weight);
        if (plan->kind == Plan::best_stump) return stump(rows, {}, true, rows.weight, -1);
        const bool low = plan->left->kind != Plan::split && plan->right->kind != Plan::split;
        if (low) return low_tree(rows, plan->test, plan->left->kind, plan->right->kind, -1, -1);
        Node left, right;
        const bool listed = weigh_sides(rows, plan->test, left, right);
        if (!listed) division_.now(rows, plan->test, left, right);
        return join(plan->test, written_out(left, plan->left), written_out(right, plan->right));
    }

private:
    const contree::Table<W>& table_;
    const contree::Settings& rules_;
    contree::Control& control_;
    bool guesses_;
    Cost penalty_, support_;
    contree::Counters counters_;
    contree::Search<W> search_;
    EachFeature<W> each_;
    contree::ListedRows<W> listed_, read_;  // `read_` is of trees of depth two: its work is part of theirs
    contree::ListedRows<W>* picks_ = &listed_;  // of the tree that is written out
    std::size_t kept_;  // cells: more rows than that give their scratch back
    contree::StumpScan<W> stump_;
    Impurity<W> impurity_;
    Division<W> division_;
    std::vector<Cost> by_, gain_, one_, other_;
    std::uint64_t work_ = 0;

    /// For trees of depth two, which read the orders of a list one by one.
    const Node& read_as_list(const Rows& part) {
        const Node& rows = division_.read(part);
        if (listed_.is_list(rows)) work_ += (table_.n + rows.n) * static_cast<std::size_t>(table_.features);
        return rows;
    }
    bool clash(int feature, const Tree<Cost>& left, const Tree<Cost>& right) const {
        const contree::Clash clash = rules_.clash_of(feature);
        return (left.labels & clash.below) != 0 && (right.labels & clash.above) != 0;
    }
    bool may_guess(const Node& rows) const { return guesses_ || (rows.n < table_.n && (support_ > 0 || penalty_ == 0)); }
    bool is_large(const Node& rows) const { return rows.n * static_cast<std::size_t>(table_.features) > kept_; }
    Ptr leaf_of(const std::vector<Cost>& weight) const {
        if (may_clash()) return leaf_for(costs_of(weight), 0);
        int label = 0;
        const Cost cost = stump_.leaf(weight, &label);
        return std::make_shared<const Tree<Cost>>(Tree<Cost>{{}, cost, double(label), 0, 0, nullptr, nullptr});
    }
    /// What one leaf costs with each label.
    std::vector<Cost> costs_of(const std::vector<Cost>& weight) const {
        const auto labels = static_cast<std::size_t>(table_.predictions);
        std::vector<Cost> costs(labels, 0);
        for (std::size_t y = 0; y < weight.size(); ++y)
            for (std::size_t a = 0; a < labels; ++a) costs[a] += weight[y] * table_.cost[y * labels + a];
        return costs;
    }
    /// Numbers and weights of both sides; whether they are divided already.
    bool weigh_sides(const Node& rows, Test test, Node& left, Node& right) {
        if (listed_.lists_sides(rows)) {
            listed_.divide(rows, test, left, right);
            return true;
        }
        for (Node* side : {&left, &right})
            if (listed_.is_list(*side)) *side = {};
        contree::weigh_sides(table_, rows, test, left, right);
        return false;
    }
    bool supported(const Node& rows, Test test) const {
        const auto* rank = table_.rank[test.feature].data();
        Cost below = 0, above = 0;
        for (std::size_t k = 0; k < rows.n; ++k) {
            const auto row = rows.order(0)[k];
            (rank[row] < test.key ? below : above) += table_.support_of(row);
        }
        return below >= support_ && above >= support_;
    }
    /// Of the rows of a list, whose weights and support are returned; it is sorted on the way.
    Ptr relabelled(const Tree<Cost>& tree, typename W::Id* begin, typename W::Id* end, std::vector<Cost>& weight,
                   Cost& support) {
        control_.check();
        weight.assign(static_cast<std::size_t>(table_.classes), 0);
        work_ += static_cast<std::size_t>(end - begin) * 4;
        if (tree.is_leaf()) {
            for (const auto* row = begin; row != end; ++row)
                weight[table_.label[*row]] += table_.weight_of(*row), support += table_.support_of(*row);
            return leaf_of(weight);
        }
        const auto* rank = table_.rank[tree.test.feature].data();
        auto* middle = std::partition(begin, end, [&](auto row) { return rank[row] < tree.test.key; });
        std::vector<Cost> of_right;
        Cost on_left = 0, on_right = 0;
        const Ptr left = relabelled(*tree.left, begin, middle, weight, on_left);
        const Ptr right = relabelled(*tree.right, middle, end, of_right, on_right);
        for (std::size_t y = 0; y < weight.size(); ++y) weight[y] += of_right[y];
        support = on_left + on_right;
        const Ptr leaf = leaf_of(weight), both = join(tree.test, left, right);
        const bool divides = middle != begin && middle != end && std::min(on_left, on_right) >= support_;
        return divides && better(both->cost, leaf->cost) ? both : leaf;
    }
    /// A test above leaves and best tests, whose features may be known.
    Ptr low_tree(const Node& rows, Test test, contree::Plan::Kind on_left, contree::Plan::Kind on_right, int left_feature,
                 int right_feature) {
        Node left, right;  // no more than their weights is read
        if (listed_.lists_sides(rows))
            listed_.list_sides(rows, test, left, right);
        else
            contree::weigh_sides(table_, rows, test, left, right);
        const auto side = [&](contree::Plan::Kind kind, bool at_left, const std::vector<Cost>& weight, int feature) {
            return kind == contree::Plan::leaf ? leaf_of(weight) : stump(rows, test, at_left, weight, feature);
        };
        const Ptr low = side(on_left, true, left.weight, left_feature);
        return join(test, low, side(on_right, false, right.weight, right_feature));
    }
    /// The best tree of at most one test on the rows that `outer` sends left (or right), of that feature unless it is -1.
    Ptr stump(const Node& rows, Test outer, bool left, const std::vector<Cost>& weight, int feature) {
        const Ptr alone = leaf_of(weight);
        contree::Stump<Cost> best;
        const int first = feature < 0 ? 0 : feature, end = feature < 0 ? table_.features : feature + 1;
        for (int f = first; f < end; ++f) {
            control_.check();
            const auto side = picks_->side_by(rows, f, outer, left);
            stump_.improve(side.data(), side.size(), f, {}, left, weight, support_, best, rules_.clash_of(f));
        }
        work_ += rows.n * static_cast<std::size_t>(end - first) * 4;
        if (best.test.feature < 0 || penalty_ + best.cost >= alone->cost) return alone;
        const auto* rank = table_.rank[best.test.feature].data();
        std::fill(one_.begin(), one_.end(), Cost{0});
        for (const auto row : picks_->side_by(rows, best.test.feature, outer, left)) {
            if (rank[row] >= best.test.key) break;
            one_[table_.label[row]] += table_.weight_of(row);
        }
        for (std::size_t y = 0; y < one_.size(); ++y) other_[y] = weight[y] - one_[y];
        return join(best.test, leaf_of(one_), leaf_of(other_));
    }
};

}  // namespace treeform::deep
