// ConTree on one instruction set against the other: drawn tables, each solved by every path that this processor has.
// The paths find the same trees, at the cost that all trees of two tests and fewer, one by one, cannot beat. What is
// printed depends on the tables alone, so that two processors have to print the same.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "contree/engine.hpp"
#include "contree/scan.hpp"

namespace {

using namespace treeform;

class Draw {  // xorshift, the same everywhere
public:
    explicit Draw(std::uint64_t seed) : state_(seed * 2654435761u + 88172645463325252u) {}
    std::uint64_t below(std::uint64_t limit) {
        state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
        return state_ % limit;
    }

private:
    std::uint64_t state_;
};

struct Drawn {
    std::vector<double> x;
    std::vector<std::int32_t> label;
    std::vector<std::int64_t> weight;
    contree::Rows rows;
};

void draw(Drawn& table, std::uint64_t seed) {
    Draw next(seed);
    const std::size_t n = 20 + next.below(200), features = 2 + next.below(4);
    const int classes = static_cast<int>(2 + next.below(3));
    const std::uint64_t values = seed % 3 == 0 ? 4 : 1000;
    // Sums of 16 bits, of 32 bits, and costs beyond 32 bits.
    const std::uint64_t weights[] = {3, 300, 1'000'000, 100'000'000}, most_weight = weights[seed / 2 % 4];
    for (std::size_t i = 0; i < n * features; ++i) table.x.push_back(static_cast<double>(next.below(values)) / 7 - 3);
    for (std::size_t i = 0; i < n; ++i) {
        table.label.push_back(static_cast<std::int32_t>(next.below(static_cast<std::uint64_t>(classes))));
        table.weight.push_back(static_cast<std::int64_t>(1 + next.below(most_weight)));
    }
    auto& rows = table.rows;
    rows.x = table.x.data(), rows.n = n, rows.features = features, rows.label = table.label.data();
    rows.weight = seed % 2 ? table.weight.data() : nullptr, rows.classes = classes;
    if (seed % 5 == 0)  // all errors cost the same, and not one
        for (int a = 0; a < classes * classes; ++a) rows.cost.push_back(a % (classes + 1) == 0 ? 0 : 3);
}

/// What an error on a row costs.
std::int64_t weight_of(const contree::Rows& rows, std::size_t i) {
    return (rows.weight ? rows.weight[i] : 1) * (rows.cost.empty() ? 1 : rows.cost[1]);
}

/// Errors of a tree, counted row by row.
std::int64_t cost_of(const FlatTree& tree, const contree::Rows& rows) {
    std::int64_t cost = 0;
    for (std::size_t i = 0; i < rows.n; ++i) {
        std::size_t node = 0;
        while (tree.feature[node] >= 0) {
            const double value = rows.x[i * rows.features + static_cast<std::size_t>(tree.feature[node])];
            node = static_cast<std::size_t>(value <= tree.low[node] ? tree.left[node] : tree.right[node]);
        }
        if (tree.label[node] != rows.label[i]) cost += weight_of(rows, i);
    }
    return cost;
}

/// The least cost with one test, from the definition.
std::int64_t best_stump(const contree::Rows& rows) {
    std::int64_t best = contree::kNone;
    for (std::size_t f = 0; f < rows.features; ++f)
        for (std::size_t cut = 0; cut < rows.n; ++cut) {
            std::int64_t cost = 0;
            for (const bool side : {false, true}) {
                std::int64_t all = 0, most = 0;
                for (int c = 0; c < rows.classes; ++c) {
                    std::int64_t own = 0;
                    for (std::size_t i = 0; i < rows.n; ++i) {
                        const bool left = rows.x[i * rows.features + f] <= rows.x[cut * rows.features + f];
                        if (left == side && rows.label[i] == c) own += weight_of(rows, i);
                    }
                    all += own, most = own > most ? own : most;
                }
                cost += all - most;
            }
            best = cost < best ? cost : best;
        }
    return best;
}

contree::Outcome solved(const contree::Rows& rows, int depth, const std::string& simd) {
    contree::Settings settings;
    settings.depth = depth, settings.simd = simd;
    contree::Control control(settings.upper);
    contree::Engine engine(rows, settings, control);
    engine.solve();
    return engine.outcome();
}

bool same(const FlatTree& a, const FlatTree& b) {
    return a.feature == b.feature && a.low == b.low && a.high == b.high && a.label == b.label && a.left == b.left;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t tables = argc > 1 ? std::stoull(argv[1]) : 60;
    std::vector<std::string> paths;
    for (const char* path : {"portable", "avx2", "avx512"})
        if (contree::simd_available(path)) paths.emplace_back(path);
    std::uint64_t sum = 0;
    for (std::uint64_t seed = 1; seed <= tables; ++seed) {
        Drawn table;
        draw(table, seed);
        for (int depth = 1; depth <= 3; ++depth) {
            const auto plain = solved(table.rows, depth, "plain");
            const auto cost = cost_of(plain.tree, table.rows);
            bool right = plain.complete && plain.simd == "plain" && cost == plain.tree.cost && cost == plain.lower;
            if (depth == 1) right = right && cost == best_stump(table.rows);
            for (const auto& path : paths) {
                const auto other = solved(table.rows, depth, path);
                right = right && other.simd == path && other.lower == plain.lower && same(other.tree, plain.tree);
            }
            if (!right) {
                std::fprintf(stderr, "table %d, depth %d: the paths differ\n", static_cast<int>(seed), depth);
                return 1;
            }
            sum = sum * 31 + static_cast<std::uint64_t>(cost);
        }
    }
    std::printf("%d tables, sum %llu\n", static_cast<int>(tables), static_cast<unsigned long long>(sum));
    for (const auto& path : paths) std::fprintf(stderr, "plain and %s alike\n", path.c_str());
    return 0;
}
