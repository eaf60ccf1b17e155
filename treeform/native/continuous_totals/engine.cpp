// Ranks the columns, chooses the widths of a run, and puts the answer together.
#include "engine.hpp"

#include <algorithm>
#include <stdexcept>

#include "../contree/divide.hpp"
#include "../contree/ranks.hpp"
#include "../contree/width.hpp"

namespace treeform::continuous_totals {

template <class W>
void solve_as(const Samples&, const Settings&, contree::RankedTable&, Amount, Control&, Outcome&);
extern template void solve_as<contree::Priced>(const Samples&, const Settings&, contree::RankedTable&,
                                               Amount, Control&, Outcome&);
extern template void solve_as<contree::PricedWide>(const Samples&, const Settings&, contree::RankedTable&,
                                                   Amount, Control&, Outcome&);
extern template void solve_as<contree::Huge>(const Samples&, const Settings&, contree::RankedTable&,
                                             Amount, Control&, Outcome&);

namespace {

constexpr Amount kSmall = Amount(1) << 30;  // sums of prices in 32 bits
constexpr Amount kLarge = Amount(1) << 60;
constexpr Amount kFineUnit = 64;  // worth this much at least, a unit of cost is priced finely enough

/// The dearest tree, about.
double dearest(const Samples& s, int depth) {
    double sum = static_cast<double>(s.test_cost) * static_cast<double>((Amount(1) << std::min(depth, 20)) - 1);
    for (std::size_t i = 0; i < s.n; ++i) {
        const Amount* cost = s.cost + static_cast<std::size_t>(s.kind[i]) * s.labels;
        sum += static_cast<double>(*std::max_element(cost, cost + s.labels)) * static_cast<double>(s.weight_of(i));
    }
    return sum;
}

void search(const Samples& samples, const Settings& settings, Control& control, Outcome& out) {
    // A rank and a place in the order of each cell: what sorting leaves, before any search.
    control.check_table(samples.n * samples.features * 2 * sizeof(std::uint32_t));
    contree::RankedTable ranked(samples.x, samples.n, samples.features, contree::kSlack, control);
    if (dearest(samples, settings.depth) * kFineUnit >= kSmall)
        return solve_as<contree::Huge>(samples, settings, ranked, kLarge, control, out);
    if (samples.n < 65535 && ranked.most_values < 65535)
        return solve_as<contree::Priced>(samples, settings, ranked, kSmall, control, out);
    solve_as<contree::PricedWide>(samples, settings, ranked, kSmall, control, out);
}

}  // namespace

Outcome solve(const Samples& samples, const Settings& settings, Control& control) {
    Outcome out;
    try {
        search(samples, settings, control, out);
    } catch (const Stopped&) {
    } catch (const TooManyActive&) {
        out.too_many_active = true;
    } catch (const std::bad_alloc&) {
        out.memory_stop = true;
    }
    out.seconds = control.seconds();
    return out;
}

}  // namespace treeform::continuous_totals
