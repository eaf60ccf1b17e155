#include "alternation.hpp"

#include <algorithm>
#include <numeric>

namespace treeform::diagram {

Alternation::Alternation(const Instance& in, const Settings& settings, const Order& order, const Control& control)
    : in_(in), settings_(settings), order_(order), control_(control), points_(int(in.weight.size())),
      classes_(in.view.classes) {
    const std::size_t depth = settings.widths.size();
    model_.resize(depth), below_.resize(depth), at_.assign(depth, std::vector<int>(points_));
    for (std::size_t l = 0; l < depth; ++l) {
        model_[l].resize(settings.widths[l]);
        below_[l].assign(settings.widths[l], std::vector<std::uint8_t>(points_));
    }
    place_.resize(points_);
}

void Alternation::improve(const PlanPtr& plan, int tests, Cost cost, double work, int kicks, std::uint64_t seed,
                          const Found& found) {
    work_ = work, state_ = seed * 0x9e3779b97f4a7c15ull + 0x7654321;
    read(plan.get());
    Model best = model_;
    Cost least = kNever;
    try {
        Cost now = least = descend(tests);
        Model kept = best = model_;
        for (; kicks > 0 && work_ > 0 && least > 0; --kicks) {
            kick();
            const Cost next = descend(tests);
            if (next <= now)
                kept = model_, now = next;
            else
                model_ = kept;
            if (now < least) least = now, best = kept;
        }
    } catch (const Stopped&) {
        found(write());
        if (least < cost) model_ = best, found(write());
        throw;
    }
    if (least < cost) model_ = best, found(write());
}

std::uint64_t Alternation::draw(std::uint64_t below) {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (z ^ (z >> 31)) % below;
}

/// The plan's tests; its terminals get the class that is cheapest for their points.
void Alternation::read(const Plan* plan) {
    for (auto& layer : model_) std::fill(layer.begin(), layer.end(), Node{});
    for (std::size_t l = 0; plan && l < model_.size(); ++l, plan = plan->next.get()) {
        for (std::size_t u = 0; u < plan->split.size(); ++u) {
            Node& node = model_[l][u];
            node.split = plan->split[u], node.used = plan->has_test(u);
            for (int side = 0; side < 2; ++side) {
                const int head = plan->target[2 * u + side];
                const bool ends = head < 0 || !plan->next || !plan->next->has_test(head);
                node.to[side] = ends ? ~0 : head;
            }
        }
    }
    if (!model_[0][0].used) model_[0][0] = {0, {~0, ~0}, true};
    route();
    std::vector<Cost> by(classes_);
    for (std::size_t l = 0; l < model_.size(); ++l)
        for (std::size_t u = 0; u < model_[l].size(); ++u)
            for (int side = 0; side < 2 && model_[l][u].used; ++side) {
                Node& node = model_[l][u];
                if (node.to[side] >= 0) continue;
                std::fill(by.begin(), by.end(), 0);
                for (int p = 0; p < points_; ++p) {
                    if (at_[l][p] != int(u)
                        || (node.split >= 0 && (in_.split(node.split)[p / 64] >> (p % 64) & 1) != (side == 0)))
                        continue;
                    for (int k = 0; k < classes_; ++k) by[k] += in_.cost[std::size_t(p) * classes_ + k];
                }
                node.to[side] = ~int(std::min_element(by.begin(), by.end()) - by.begin());
            }
}

PlanPtr Alternation::write() const {
    PlanPtr next;
    std::vector<int> place_below, place;
    for (std::size_t l = model_.size(); l-- > 0;) {
        auto plan = std::make_shared<Plan>();
        place.assign(model_[l].size(), -1);
        for (std::size_t u = 0; u < model_[l].size(); ++u) {
            const Node& node = model_[l][u];
            if (!node.used) continue;
            place[u] = int(plan->split.size());
            plan->split.push_back(node.split);
            for (const int head : node.to) plan->target.push_back(head < 0 ? Plan::kTerminal : place_below[head]);
        }
        std::swap(place, place_below);
        if (plan->split.empty()) continue;
        plan->next = next;
        next = std::move(plan);
    }
    return next;
}

int Alternation::tests() const {
    int count = 0;
    for (const auto& layer : model_)
        for (const Node& node : layer) count += node.used;
    return count;
}

/// The node of every point in every layer.
void Alternation::route() {
    std::fill(at_[0].begin(), at_[0].end(), 0);
    for (std::size_t l = 0; l + 1 < model_.size(); ++l) {
        for (int p = 0; p < points_; ++p) {
            const int u = at_[l][p];
            int head = -1;
            if (u >= 0) {
                const Node& node = model_[l][u];
                const bool left = node.split < 0 || (in_.split(node.split)[p / 64] >> (p % 64) & 1);
                head = node.to[left ? 0 : 1];
            }
            at_[l + 1][p] = head < 0 ? -1 : head;
        }
    }
}

std::uint8_t Alternation::class_at(int layer, int head, std::uint32_t p) const {
    return head < 0 ? std::uint8_t(~head) : below_[layer][head][p];
}

Cost Alternation::cost_as(int label, std::uint32_t p) const { return in_.cost[std::size_t(p) * classes_ + label]; }

Cost Alternation::cost_at(int layer, int head, std::uint32_t p) const { return cost_as(class_at(layer, head, p), p); }

/// The class that every point ends in from that node on.
void Alternation::cost_from(int layer, int node) {
    const Node& one = model_[layer][node];
    auto& below = below_[layer][node];
    for (int p = 0; p < points_; ++p) {
        const bool left = one.split < 0 || (in_.split(one.split)[p / 64] >> (p % 64) & 1);
        below[p] = class_at(layer + 1, one.to[left ? 0 : 1], std::uint32_t(p));
    }
    work_ -= points_;
}

Cost Alternation::total() const {
    Cost sum = 0;
    for (int p = 0; p < points_; ++p) sum += cost_as(below_[0][0][p], std::uint32_t(p));
    return sum;
}

/// Alternation until nothing improves; the cost then.
Cost Alternation::descend(int most) {
    for (;;) {
        control_.check();
        bool better = sweep();
        drop_unused();
        while (tests() < most && grow()) better = true;
        if (!better || work_ <= 0) break;
    }
    // Every terminal and every point once more, from the last layer up.
    for (int l = int(model_.size()); l-- > 0;)
        for (std::size_t u = 0; u < model_[l].size(); ++u)
            if (model_[l][u].used) cost_from(l, int(u));
    return total();
}

/// One pass over all nodes from the last layer up; true if one got better.
bool Alternation::sweep() {
    route();
    bool better = false;
    for (int l = int(model_.size()); l-- > 0;) {
        for (std::size_t u = 0; u < model_[l].size(); ++u) {
            Node& node = model_[l][u];
            if (!node.used) continue;
            if (node.split >= 0) {
                list_options(l, int(u));
                Cost now = 0;
                here_.clear();
                for (int p = 0; p < points_; ++p) {
                    if (at_[l][p] != int(u)) continue;
                    here_.push_back(std::uint32_t(p));
                    const bool left = in_.split(node.split)[p / 64] >> (p % 64) & 1;
                    now += cost_at(l + 1, node.to[left ? 0 : 1], std::uint32_t(p));
                }
                const Choice one = best_choice(l, int(u));
                if (one.cost < now)
                    node.split = one.split, node.to[0] = one.left, node.to[1] = one.right, better = true;
            }
            cost_from(l, int(u));
        }
    }
    return better;
}

/// Terminals, and nodes of the next layer; in a tree those that no other node leads to.
void Alternation::list_options(int layer, int node) {
    option_.clear();
    for (int k = 0; k < classes_; ++k) option_.push_back(~k);
    if (layer + 1 == int(model_.size())) return;
    for (int v = 0; v < int(model_[layer + 1].size()); ++v) {
        if (!model_[layer + 1][v].used) continue;
        bool taken = false;
        for (int u = 0; settings_.is_tree && u < int(model_[layer].size()); ++u)
            taken |= u != node && model_[layer][u].used && (model_[layer][u].to[0] == v || model_[layer][u].to[1] == v);
        if (!taken) option_.push_back(v);
    }
}

/// The best test and heads for the points in `here_`.
Alternation::Choice Alternation::best_choice(int layer, int) {
    const std::size_t many = option_.size();
    table_.resize(here_.size() * many), total_.assign(many, 0);
    std::fill(place_.begin(), place_.end(), -1);
    for (std::size_t i = 0; i < here_.size(); ++i) {
        place_[here_[i]] = std::int32_t(i);
        for (std::size_t o = 0; o < many; ++o)
            total_[o] += table_[i * many + o] = cost_at(layer + 1, option_[o], here_[i]);
    }
    Choice best;
    for (int f = 0; f < in_.view.features; ++f) control_.check(), scan(f, best);
    work_ -= double(in_.view.features) * (points_ + 2.0 * double(here_.size() * many));
    return best;
}

void Alternation::scan(int f, Choice& best) {
    const std::size_t many = option_.size();
    left_.assign(many, 0);
    const auto& [points, first] = order_.of[f];
    int last = -1;  // the largest rank so far of a point of the node
    for (int rank = 0; rank + 1 < int(first.size()); ++rank) {
        bool is_first = last >= 0;  // of its rank, after others
        for (std::uint32_t i = first[rank]; i < first[rank + 1]; ++i) {
            const std::int32_t place = place_[points[i]];
            if (place < 0) continue;
            if (is_first) take_better(in_.view.first[f] + (last + rank - 1) / 2, best);
            is_first = false, last = rank;
            const Cost* add = table_.data() + std::size_t(place) * many;
            for (std::size_t o = 0; o < many; ++o) left_[o] += add[o];
        }
    }
}

/// The best heads of a test with the points in `left_` on its left side, if they cost less.
void Alternation::take_better(int split, Choice& best) const {
    Cost left = kNever, second_left = kNever, right = kNever, second_right = kNever;
    std::size_t l = 0, r = 0, second_l = 0, second_r = 0;
    for (std::size_t o = 0; o < option_.size(); ++o) {
        const Cost a = left_[o], b = total_[o] - a;
        if (a < left)
            second_left = left, second_l = l, left = a, l = o;
        else if (a < second_left)
            second_left = a, second_l = o;
        if (b < right)
            second_right = right, second_r = r, right = b, r = o;
        else if (b < second_right)
            second_right = b, second_r = o;
    }
    if (l == r) {  // the heads of a test differ
        if (second_left - left < second_right - right)
            left = second_left, l = second_l;
        else
            right = second_right, r = second_r;
    }
    if (left + right < best.cost) best = {left + right, split, option_[l], option_[r]};
}

/// Nodes that nothing leads to, or no point reaches, have no test.
void Alternation::drop_unused() {
    route();
    for (std::size_t l = 1; l < model_.size(); ++l) {
        std::vector<char> reached(model_[l].size(), 0);
        for (int p = 0; p < points_; ++p)
            if (at_[l][p] >= 0) reached[at_[l][p]] = 1;
        for (std::size_t u = 0; u < model_[l].size(); ++u) {
            if (reached[u] || !model_[l][u].used) continue;
            model_[l][u] = Node{};
            for (Node& above : model_[l - 1])
                for (int& head : above.to)
                    if (head == int(u)) head = ~0;
        }
    }
}

/// One more test in place of the terminal where it saves most; false if it saves nothing anywhere.
bool Alternation::grow() {
    route();
    Choice best;
    Cost most_saved = 0;
    std::size_t layer = 0, node = 0;
    int at = 0;
    for (std::size_t l = 0; l + 1 < model_.size() && work_ > 0; ++l) {
        const auto& next = model_[l + 1];
        if (std::all_of(next.begin(), next.end(), [](const Node& one) { return one.used; })) continue;
        for (std::size_t u = 0; u < model_[l].size(); ++u) {
            const Node& one = model_[l][u];
            for (int side = 0; one.used && one.split >= 0 && side < 2; ++side) {
                if (one.to[side] >= 0) continue;
                Cost now = 0;
                here_.clear();
                for (int p = 0; p < points_; ++p) {
                    if (at_[l][p] != int(u) || (in_.split(one.split)[p / 64] >> (p % 64) & 1) != (side == 0)) continue;
                    here_.push_back(std::uint32_t(p)), now += in_.cost[std::size_t(p) * classes_ + ~one.to[side]];
                }
                if (now <= most_saved) continue;
                list_options(int(l) + 1, -1);
                const Choice found = best_choice(int(l) + 1, -1);
                if (now - found.cost > most_saved)
                    most_saved = now - found.cost, best = found, layer = l, node = u, at = side;
            }
        }
    }
    if (most_saved <= 0) return false;
    auto& next = model_[layer + 1];
    const auto free = std::find_if(next.begin(), next.end(), [](const Node& one) { return !one.used; });
    *free = {best.split, {best.left, best.right}, true};
    model_[layer][node].to[at] = int(free - next.begin());
    cost_from(int(layer) + 1, int(free - next.begin()));
    return true;
}

/// A test at random in place of one of the model's; now and then the node ends in terminals too.
void Alternation::kick() {
    std::vector<Node*> with;
    for (auto& layer : model_)
        for (Node& node : layer)
            if (node.used && node.split >= 0) with.push_back(&node);
    if (with.empty()) return;
    Node& node = *with[draw(with.size())];
    const int f = int(draw(std::uint64_t(in_.view.features)));
    node.split = in_.view.first[f] + int(draw(std::uint64_t(in_.view.first[f + 1] - in_.view.first[f])));
    if (draw(3) == 0) {
        const int k = int(draw(std::uint64_t(classes_)));
        node.to[0] = ~k, node.to[1] = ~int((k + 1 + draw(std::uint64_t(classes_ - 1))) % classes_);
    }
}

}  // namespace treeform::diagram
