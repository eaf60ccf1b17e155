#include "information_gain.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace treeform::diagram {
namespace {

constexpr double kShare = 0.6;          // of the features, at every choice of a test
constexpr Cost kTable = 1 << 16;

}  // namespace

Heuristic::Heuristic(const Instance& in, const Settings& settings, const Order& order, const Control& control)
    : in_(in), settings_(settings), order_(order), control_(control), points_(int(in.weight.size())),
      features_(in.view.features), depth_(int(settings.widths.size())), classes_(in.view.classes) {
    benefit_.resize(in.cost.size());
    for (int p = 0; p < points_; ++p) {
        const Cost* row = in.cost.data() + std::size_t(p) * classes_;
        const Cost most = *std::max_element(row, row + classes_);
        for (int k = 0; k < classes_; ++k) benefit_[std::size_t(p) * classes_ + k] = most - row[k];
    }
    table_.resize(kTable);
    for (Cost x = 2; x < kTable; ++x) table_[x] = double(x) * std::log2(double(x));
    best_.assign(settings.max_nodes + 1, kNever);
    const auto& widths = settings.widths;
    const auto wider = std::find_if(widths.begin(), widths.end(), [](int width) { return width > 1; });
    if (!settings.is_tree && settings.min_support == 0 && wider != widths.end())
        most_passes_ = std::max(int(wider - widths.begin()) - 1, 0);
}

std::int64_t Heuristic::run(std::uint64_t seed, double seconds, std::int64_t starts, const Found& found) {
    state_ = seed * 0x9e3779b97f4a7c15ull + 0x1234567;
    const double until = control_.seconds() + seconds;
    std::int64_t made = 0;
    if (features_ == 0 || settings_.max_nodes == 0) return 0;
    for (; made < starts && control_.seconds() < until; ++made) {
        control_.check();
        start(found);
    }
    return made;
}

bool Heuristic::chance(double share) {   // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return double((z ^ (z >> 31)) >> 11) * 0x1.0p-53 < share;
}

double Heuristic::x_log_x(Cost x) const { return x < kTable ? table_[x] : double(x) * std::log2(double(x)); }

/// Minus the entropy times the weight: sum n_k log n_k - n log n. Splitting adds to it, merging takes away.
double Heuristic::information(const Cost* count) const {
    Cost all = 0;
    double sum = 0;
    for (int k = 0; k < classes_; ++k) sum += x_log_x(count[k]), all += count[k];
    return sum - x_log_x(all);
}

void Heuristic::start(const Found& found) {
    layers_.assign(depth_, {});
    node_.assign(points_, 0);
    int nodes = 1, passes = 0;
    while (passes < most_passes_ && chance(0.5)) ++passes;
    for (int layer = 0; layer < depth_ && nodes > 0; ++layer) {
        if (layer < passes)
            chosen_.assign(nodes, {0, Plan::kPass});
        else
            choose_tests(nodes);
        nodes = send_flows(layer, nodes);
    }
    prune(found);
}

void Heuristic::choose_tests(int nodes) {
    total_.assign(std::size_t(nodes) * classes_, 0);
    count_.resize(nodes), node_weight_.assign(nodes, 0);
    for (int p = 0; p < points_; ++p) {
        const int u = node_[p];
        if (u < 0) continue;
        node_weight_[u] += in_.weight[p];
        for (int k = 0; k < classes_; ++k)
            total_[std::size_t(u) * classes_ + k] += benefit_[std::size_t(p) * classes_ + k];
    }
    chosen_.assign(nodes, {});
    open_.assign(std::size_t(features_) * nodes, 0);
    for (int u = 0; u < nodes; ++u) {
        bool any = false;
        for (int f = 0; f < features_; ++f) any |= open_[std::size_t(f) * nodes + u] = chance(kShare);
        if (!any)
            for (int f = 0; f < features_; ++f) open_[std::size_t(f) * nodes + u] = 1;
    }
    for (int f = 0; f < features_; ++f) control_.check(), scan(f, nodes);
}

/// All nodes of the layer at once, in one pass over the points in the order of the feature.
void Heuristic::scan(int f, int nodes) {
    under_.assign(std::size_t(nodes) * classes_, 0);
    last_.assign(nodes, -1);
    std::fill(count_.begin(), count_.end(), Cost{0});
    const std::uint8_t* open = open_.data() + std::size_t(f) * nodes;
    const auto& [points, first] = order_.of[f];
    for (int rank = 0; rank + 1 < int(first.size()); ++rank)
        for (std::uint32_t i = first[rank]; i < first[rank + 1]; ++i) {
            const std::uint32_t p = points[i];
            const int u = node_[p];
            if (u < 0 || !open[u]) continue;
            if (last_[u] >= 0 && rank != last_[u]) consider(f, u, rank);
            last_[u] = rank;
            count_[u] += in_.weight[p];
            Cost* under = under_.data() + std::size_t(u) * classes_;
            const Cost* add = benefit_.data() + std::size_t(p) * classes_;
            for (int k = 0; k < classes_; ++k) under[k] += add[k];
        }
}

/// The test of node u between the points before and one of rank `right`.
void Heuristic::consider(int f, int u, int right) {
    if (std::min(count_[u], node_weight_[u] - count_[u]) < settings_.min_support) return;
    const Cost* under = under_.data() + std::size_t(u) * classes_;
    const Cost* total = total_.data() + std::size_t(u) * classes_;
    Cost below = 0, above = 0;
    double sum = 0;
    for (int k = 0; k < classes_; ++k) {
        const Cost rest = total[k] - under[k];
        sum += x_log_x(under[k]) + x_log_x(rest);
        below += under[k], above += rest;
    }
    const double gain = sum - x_log_x(below) - x_log_x(above) - information(total);
    if (gain > chosen_[u].gain) chosen_[u] = {gain, in_.view.first[f] + (last_[u] + right - 1) / 2};
}

/// Part the points by the tests, merge flows to the width of the next layer; returns the number of its nodes.
int Heuristic::send_flows(int layer, int nodes) {
    Layer& here = layers_[layer];
    here.split.resize(nodes), here.target.assign(2 * nodes, Plan::kTerminal);
    here.cost.assign(2 * nodes, std::vector<Cost>(classes_, 0)), here.weight.assign(2 * nodes, 0);
    for (int u = 0; u < nodes; ++u) here.split[u] = chosen_[u].split;
    std::vector<int> flow_of(points_, -1);
    for (int p = 0; p < points_; ++p) {
        const int u = node_[p];
        if (u < 0) continue;
        const int s = here.split[u];
        const int flow = 2 * u + (s >= 0 && !(in_.split(s)[p / 64] >> (p % 64) & 1));
        flow_of[p] = flow;
        here.weight[flow] += in_.weight[p];
        for (int k = 0; k < classes_; ++k) here.cost[flow][k] += in_.cost[std::size_t(p) * classes_ + k];
    }
    std::vector<int> group(2 * nodes, -1);
    int groups = 0;
    if (layer + 1 < depth_)
        for (int i = 0; i < 2 * nodes; ++i) {
            const bool free = *std::min_element(here.cost[i].begin(), here.cost[i].end()) == 0;
            if (here.split[i / 2] != Plan::kNoTest && !free && here.weight[i] >= settings_.min_flow)
                group[i] = groups++;
        }
    if (groups > 0) groups = merge(here, group, groups, settings_.widths[layer + 1]);
    here.target = group;
    for (int p = 0; p < points_; ++p) node_[p] = flow_of[p] < 0 ? -1 : group[flow_of[p]];
    return groups;
}

/// The two groups that lose the least information when they are united; none where every two share a parent.
std::pair<int, int> Heuristic::closest(const Flows& flows, int groups) const {
    std::pair<int, int> found{-1, -1};
    double least = 0;
    std::vector<Cost> sum(classes_);
    for (int i = 0; i < groups; ++i)
        for (int j = i + 1; j < groups; ++j) {
            if (flows.parents[i] & flows.parents[j]) continue;  // two sides of a node do not lead to one node
            const auto &one = flows.count[i], &other = flows.count[j];
            for (int k = 0; k < classes_; ++k) sum[k] = one[k] + other[k];
            const double loss = information(one.data()) + information(other.data()) - information(sum.data());
            if (found.first < 0 || loss < least) found = {i, j}, least = loss;
        }
    return found;
}

/// While there are too many groups: unite the two that lose the least information. In a tree nothing is united, and
/// the last flows end.
int Heuristic::merge(const Layer& here, std::vector<int>& group, int groups, int width) const {
    Flows flows{{std::size_t(groups), std::vector<Cost>(classes_, 0)}, std::vector<std::uint64_t>(groups, 0)};
    for (int i = 0; i < int(group.size()); ++i) {
        if (group[i] < 0) continue;
        const Cost most = *std::max_element(here.cost[i].begin(), here.cost[i].end());
        for (int k = 0; k < classes_; ++k) flows.count[group[i]][k] += most - here.cost[i][k];
        flows.parents[group[i]] |= std::uint64_t{1} << (i / 2 % 64);
    }
    for (; groups > width; --groups) {
        const int last = groups - 1;
        const auto [a, b] = settings_.is_tree ? std::pair{-1, -1} : closest(flows, groups);
        if (a < 0) {
            std::replace(group.begin(), group.end(), last, -1);
            continue;
        }
        for (int k = 0; k < classes_; ++k) flows.count[a][k] += flows.count[b][k];
        flows.parents[a] |= flows.parents[b];
        flows.count[b] = flows.count[last], flows.parents[b] = flows.parents[last];
        std::replace(group.begin(), group.end(), b, a);
        std::replace(group.begin(), group.end(), last, b);
    }
    return groups;
}

// -- pruning -----------------------------------------------------------------------------------------------------

Cost Heuristic::cost_of(const Layer& layer, int node) const {
    std::vector<Cost> sum(classes_);
    for (int k = 0; k < classes_; ++k) sum[k] = layer.cost[2 * node][k] + layer.cost[2 * node + 1][k];
    return *std::min_element(sum.begin(), sum.end());
}

bool Heuristic::ends(int layer, int flow) const {
    const int head = layers_[layer].target[flow];
    return head < 0 || layers_[layer + 1].split[head] == Plan::kNoTest;
}

/// What the flows to terminals cost, each with a class of its own.
Cost Heuristic::terminal_cost() const {
    if (layers_[0].split[0] == Plan::kNoTest) return cost_of(layers_[0], 0);
    Cost sum = 0;
    for (int l = 0; l < depth_; ++l)
        for (std::size_t i = 0; i < layers_[l].target.size(); ++i)
            if (layers_[l].split[i / 2] != Plan::kNoTest && ends(l, int(i)))
                sum += *std::min_element(layers_[l].cost[i].begin(), layers_[l].cost[i].end());
    return sum;
}

/// A node without a test stays in its place, and ends the flows into it, until `flatten` takes it out.
void Heuristic::prune(const Found& found) {
    int tests = 0;
    for (const Layer& one : layers_)
        for (const int s : one.split) tests += s != Plan::kNoTest;
    Cost cost = terminal_cost();
    for (;;) {
        if (tests < int(best_.size()) && cost < best_[tests]) {
            for (std::size_t k = tests; k < best_.size() && best_[k] > cost; ++k) best_[k] = cost;
            found(tests, cost, plan());
        }
        int at = 0, node = -1;
        Cost least = kNever;
        for (int l = 0; l < depth_; ++l)
            for (int u = 0; u < int(layers_[l].split.size()); ++u) {
                if (layers_[l].split[u] == Plan::kNoTest || !ends(l, 2 * u) || !ends(l, 2 * u + 1)) continue;
                Cost loss = cost_of(layers_[l], u);
                for (int i = 2 * u; i < 2 * u + 2; ++i)
                    loss -= *std::min_element(layers_[l].cost[i].begin(), layers_[l].cost[i].end());
                if (loss < least) at = l, node = u, least = loss;
            }
        if (node < 0) return;
        layers_[at].target[2 * node] = layers_[at].target[2 * node + 1] = Plan::kTerminal;
        layers_[at].split[node] = -1, --tests;
        cost = terminal_cost();
    }
}

PlanPtr Heuristic::plan() const {
    PlanPtr next;
    for (int l = depth_ - 1; l >= 0; --l) {
        if (layers_[l].split.empty()) continue;
        auto one = std::make_shared<Plan>();
        one->split = layers_[l].split, one->target = layers_[l].target, one->next = next;
        next = std::move(one);
    }
    return next;
}

}  // namespace treeform::diagram
