#include "annealing.hpp"

#include <algorithm>
#include <cmath>

namespace treeform::diagram {
namespace {

/// Nodes beyond which a step takes too long (trees of many levels).
constexpr int kMostNodes = 64;
/// The temperature falls from the first to the last, in costs of one sample.
constexpr double kHottest = 3, kColdest = 0.12;
/// What an arc takes beside its words.
constexpr int kOverhead = 16;
/// Steps between two looks at the clock and changes of the temperature.
constexpr int kStepsTogether = 256;

}  // namespace

bool Annealing::suits(const Settings& settings) {
    std::int64_t nodes = 0;
    for (const int width : settings.widths) nodes += width;
    return settings.min_support == 0 && settings.min_flow == 0 && nodes <= kMostNodes;
}

Annealing::Annealing(const Instance& in, const Settings& settings, const Control& control)
    : in_(in), settings_(settings), control_(control), depth_(int(settings.widths.size())), model_(depth_),
      now_(depth_), next_(depth_), flow_(in.words()) {
    for (int l = 0; l < depth_; ++l) {
        model_[l].resize(settings.widths[l]);
        for (auto* layers : {&now_, &next_}) {
            (*layers)[l].points.resize(std::size_t(settings.widths[l]) * in.words());
            (*layers)[l].reached.resize(settings.widths[l]);
        }
    }
}

void Annealing::run(const PlanPtr& plan, int most, double work, std::uint64_t seed,
                    const std::vector<Cost>& least, const Found& found) {
    if (in_.view.features == 0) return;
    work_ = work, state_ = seed * 0x9e3779b97f4a7c15ull + 0x2468ace;
    read(plan.get());
    std::copy(in_.all.begin(), in_.all.end(), now_[0].points.begin());
    now_[0].reached[0] = next_[0].reached[0] = true;
    if (!propose(0)) return;
    accept(0);
    const double unit = double(in_.most(in_.all.data())) / double(in_.kernels->count(in_.all.data(), in_.words()));
    double heat = kHottest * unit;
    Totals now = totals_from(depth_);
    for (std::int64_t step = 0; work_ > 0; ++step) {
        if (step % kStepsTogether == 0) {
            control_.check();
            heat = unit * kHottest * std::pow(kColdest / kHottest, 1 - work_ / work);
        }
        work_ -= kOverhead;
        const auto [layer, node] = draw_node();
        const Node before = model_[layer][node];
        if (!change(layer, node)) continue;
        const bool parts = propose(layer);
        const Totals then = parts ? totals_from(layer) : Totals{kNever, 0};
        const double rise = double(then.cost - now.cost);
        if (then.tests > most || (rise > 0 && uniform() >= std::exp(-rise / heat))) {
            model_[layer][node] = before;
            continue;
        }
        accept(layer);
        now = then;
        if (now.cost < least[now.tests]) found(now.tests, write());
    }
}

std::uint64_t Annealing::draw(std::uint64_t below) {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (z ^ (z >> 31)) % below;
}

double Annealing::uniform() { return double(draw(std::uint64_t{1} << 53)) / double(std::uint64_t{1} << 53); }

/// A node that samples reach.
std::pair<int, int> Annealing::draw_node() {
    int count = 0;
    for (const Layer& layer : now_) count += layer.tests;
    int left = int(draw(std::uint64_t(count)));
    for (int l = 0;; ++l) {
        if (left >= now_[l].tests) {
            left -= now_[l].tests;
            continue;
        }
        for (int u = 0;; ++u)
            if (now_[l].reached[u] && left-- == 0) return {l, u};
    }
}

int Annealing::draw_split() {
    const int f = int(draw(std::uint64_t(in_.view.features)));
    return in_.view.first[f] + int(draw(std::uint64_t(in_.view.first[f + 1] - in_.view.first[f])));
}

/// A threshold of the same feature, mostly a near one; -1 if it has a single one.
int Annealing::draw_neighbour(int split) {
    const int* first = in_.view.first;
    const int f = int(std::upper_bound(first, first + in_.view.features + 1, split) - first) - 1;
    const int many = first[f + 1] - first[f];
    if (many == 1) return -1;
    int most = 1;
    while (most < many && draw(2) == 0) most *= 2;
    const int away = 1 + int(draw(std::uint64_t(most)));
    const int there = draw(2) == 0 ? split - away : split + away;
    return there < first[f] || there >= first[f + 1] ? -1 : there;
}

int Annealing::draw_head(int layer) {
    if (layer + 1 == depth_) return kTerminal;
    return int(draw(std::uint64_t(settings_.widths[layer + 1]) + 1)) - 1;
}

void Annealing::read(const Plan* plan) {
    for (int l = 0; l < depth_; ++l)
        for (Node& node : model_[l]) node = {draw_split(), {kTerminal, kTerminal}};
    std::vector<int> place{0}, below;  // of the plan's parts
    for (int l = 0; plan && l < depth_; ++l, plan = plan->next.get()) {
        below.assign(plan->next ? plan->next->split.size() : 0, kTerminal);
        int used = 0;
        for (std::size_t j = 0; j < plan->split.size(); ++j) {
            if (!plan->has_test(j)) continue;
            Node& node = model_[l][place[j]];
            node.split = plan->split[j];
            for (int side = 0; side < 2; ++side) {
                const int head = plan->target[2 * j + side];
                if (head < 0 || !plan->next->has_test(head)) continue;
                if (below[head] < 0) below[head] = used++;
                node.to[side] = below[head];
            }
        }
        std::swap(place, below);
    }
}

PlanPtr Annealing::write() const {
    PlanPtr next;
    std::vector<int> place, below;
    for (int l = depth_; l-- > 0;) {
        place.assign(model_[l].size(), kTerminal);
        auto plan = std::make_shared<Plan>();
        for (std::size_t u = 0; u < model_[l].size(); ++u) {
            if (!now_[l].reached[u]) continue;
            place[u] = int(plan->split.size());
            plan->split.push_back(model_[l][u].split);
            for (const int head : model_[l][u].to)
                plan->target.push_back(head < 0 ? kTerminal : below[head]);
        }
        std::swap(place, below);
        if (plan->split.empty()) continue;
        plan->next = next;
        next = std::move(plan);
    }
    return next;
}

/// Change the node at random; false if that is no diagram, or no change.
bool Annealing::change(int layer, int u) {
    Node& node = model_[layer][u];
    const Node before = node;
    const auto kind = draw(16);
    const bool may_pass = !settings_.is_tree && layer + 1 < depth_;
    if (kind < 5) {
        node.split = draw_split();
    } else if (kind < 10 && node.split != Plan::kPass) {
        node.split = draw_neighbour(node.split);
        if (node.split < 0) node.split = draw_split();
    } else if (kind < 15) {
        node.to[draw(2)] = draw_head(layer);
    } else if (may_pass && draw(4) == 0) {
        node.split = Plan::kPass;
        node.to[0] = draw_head(layer), node.to[1] = kTerminal;
    } else {
        std::swap(node.to[0], node.to[1]);
    }
    const bool is_diagram = node.split == Plan::kPass ? node.to[0] >= 0 && node.to[1] == kTerminal
                                                      : node.to[0] != node.to[1] || node.to[0] == kTerminal;
    const bool is_new = node.split != before.split || node.to[0] != before.to[0] || node.to[1] != before.to[1];
    if (!is_diagram || !is_new) node = before;
    return is_diagram && is_new;
}

/// Routes the samples of layer `from` on, into `next_`; false if a test leaves one of its sides empty, or if
/// it is to be a tree and two arcs lead to one node.
bool Annealing::propose(int from) {
    const int words = in_.words();
    for (int l = from; l < depth_; ++l) {
        const Layer& here = l == from ? now_[l] : next_[l];
        Layer& out = next_[l];
        out.cost = 0, out.tests = 0;
        Layer* below = l + 1 < depth_ ? &next_[l + 1] : nullptr;
        if (below) std::fill(below->reached.begin(), below->reached.end(), false);
        for (int u = 0; u < int(model_[l].size()); ++u) {
            if (!here.reached[u]) continue;
            ++out.tests;
            const Word* x = here.points.data() + std::size_t(u) * words;
            const Node& node = model_[l][u];
            for (int side = 0; side < 2; ++side) {
                Word any = 0;
                if (node.split == Plan::kPass) {
                    if (side == 1) continue;
                    any = 1, std::copy_n(x, words, flow_.data());
                } else {
                    const Word flip = side == 0 ? 0 : ~Word{0}, *split = in_.split(node.split);
                    for (int w = 0; w < words; ++w) any |= flow_[w] = x[w] & (split[w] ^ flip);
                }
                if (any == 0) return false;
                if (const int head = node.to[side]; head < 0) {
                    out.cost += in_.leaf(flow_.data());
                    work_ -= words * in_.view.planes;
                } else {
                    Word* to = below->points.data() + std::size_t(head) * words;
                    if (below->reached[head] && settings_.is_tree) return false;
                    if (below->reached[head])
                        for (int w = 0; w < words; ++w) to[w] |= flow_[w];
                    else
                        std::copy_n(flow_.data(), words, to), below->reached[head] = true;
                }
                work_ -= 2 * words + kOverhead;
            }
        }
    }
    return true;
}

/// What `propose` routed is the diagram now.
void Annealing::accept(int from) {
    now_[from].cost = next_[from].cost, now_[from].tests = next_[from].tests;
    for (int l = from + 1; l < depth_; ++l) std::swap(now_[l], next_[l]);
}

/// Of the diagram with the layers from `from` on as they were proposed.
Annealing::Totals Annealing::totals_from(int from) const {
    Totals out;
    for (int l = 0; l < depth_; ++l) {
        const Layer& layer = l < from ? now_[l] : next_[l];
        out.cost += layer.cost, out.tests += layer.tests;
    }
    return out;
}

}  // namespace treeform::diagram
