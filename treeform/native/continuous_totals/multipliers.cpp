#include "multipliers.hpp"

#include <algorithm>
#include <cmath>

namespace treeform::continuous_totals {
namespace {

constexpr std::size_t kMostLines = 120;
constexpr double kGrowth = 16;
constexpr int kMostPivots = 2000;

/// max theta over theta <= height[i] + sum_s mu_s slope[i][s] for all i, 0 <= mu_s <= most[s]; by the simplex method on
/// its dual
///
///     min sum_i lambda_i height[i] + sum_s most[s] a_s,   sum_i lambda_i slope[i][s] - a_s + slack_s = 0,   sum_i
///     lambda_i = 1,
///
/// all variables >= 0. Doubles are good enough: the result is where to look, never a bound.
class Program {
public:
    Program(const std::vector<double>& height, const std::vector<std::vector<double>>& slope,
            const std::vector<double>& most)
        : lines_(height.size()), sides_(most.size()), width_(lines_ + 2 * sides_ + 1), t_((sides_ + 2) * width_, 0.0),
          basis_(sides_ + 1) {
        for (std::size_t s = 0; s < sides_; ++s) {
            for (std::size_t i = 0; i < lines_; ++i) at(s, i) = slope[i][s];
            at(s, lines_ + s) = -1, at(s, lines_ + sides_ + s) = 1;
        }
        for (std::size_t i = 0; i < lines_; ++i) at(sides_, i) = 1, at(sides_ + 1, i) = height[i];
        for (std::size_t s = 0; s < sides_; ++s) at(sides_ + 1, lines_ + s) = most[s];
        at(sides_, width_ - 1) = 1;
        pivot(sides_, 0);  // the first line, with slacks or excesses for the sides
        for (std::size_t s = 0; s < sides_; ++s) pivot(s, at(s, width_ - 1) < 0 ? lines_ + s : lines_ + sides_ + s);
    }

    /// The value; `multiplier` receives mu.
    double solve(std::vector<double>& multiplier) {
        for (int i = 0; i < kMostPivots; ++i) {
            const int column = entering(i > kMostPivots / 2);
            if (column < 0) break;
            const int row = leaving(column);
            if (row < 0) break;
            pivot(row, column);
        }
        multiplier.resize(sides_);
        for (std::size_t s = 0; s < sides_; ++s) multiplier[s] = std::max(0.0, at(sides_ + 1, lines_ + sides_ + s));
        return -at(sides_ + 1, width_ - 1);
    }

private:
    std::size_t lines_, sides_, width_;
    std::vector<double> t_;  // a row per side, one for the sum of lambda, one for the objective
    std::vector<int> basis_;

    double& at(std::size_t row, std::size_t column) { return t_[row * width_ + column]; }

    int entering(bool first) {
        int best = -1;
        double least = -1e-9;
        for (std::size_t j = 0; j + 1 < width_; ++j) {
            const double d = at(sides_ + 1, j) / (1 + std::abs(scale(j)));
            if (d >= least) continue;
            best = static_cast<int>(j);
            if (first) break;
            least = d;
        }
        return best;
    }
    double scale(std::size_t j) {
        double most = 0;
        for (std::size_t r = 0; r <= sides_; ++r) most = std::max(most, std::abs(at(r, j)));
        return most;
    }
    int leaving(int column) {
        int best = -1;
        double least = 0;
        for (std::size_t r = 0; r <= sides_; ++r) {
            const double a = at(r, column);
            if (a <= 1e-11) continue;
            const double ratio = at(r, width_ - 1) / a;
            if (best < 0 || ratio < least) best = static_cast<int>(r), least = ratio;
        }
        return best;
    }
    void pivot(std::size_t row, std::size_t column) {
        basis_[row] = static_cast<int>(column);
        const double p = at(row, column);
        for (std::size_t j = 0; j < width_; ++j) at(row, j) /= p;
        for (std::size_t r = 0; r < sides_ + 2; ++r) {
            const double factor = at(r, column);
            if (r == row || factor == 0) continue;
            for (std::size_t j = 0; j < width_; ++j) at(r, j) -= factor * at(row, j);
        }
    }
};

}  // namespace

Multipliers::Multipliers(const Samples& samples, const Pricing& pricing) : at(samples.rows, 0.0), samples_(samples) {
    for (int r = 0; r < samples.rows; ++r) {
        const double most = static_cast<double>(pricing.most_cost() + 1) / pricing.scale(r);
        if (samples.hi[r] < kNone) sides_.push_back({r, 1, most});
        if (samples.lo[r] > -kNone) sides_.push_back({r, -1, most});
    }
}

bool Multipliers::add(Line line) {
    for (const auto& one : lines_)
        if (one.cost == line.cost && one.row == line.row) return false;
    if (lines_.size() >= kMostLines) lines_.erase(lines_.begin() + kMostLines / 4);
    lines_.push_back(std::move(line));
    return true;
}

double Multipliers::excess(const Side& side, const Line& line) const {
    const Amount value = line.row[side.row];
    return side.sign > 0 ? static_cast<double>(value - samples_.hi[side.row])
                         : static_cast<double>(samples_.lo[side.row] - value);
}

double Multipliers::climb() {
    std::vector<Side*> used;
    for (auto& side : sides_)
        if (std::any_of(lines_.begin(), lines_.end(), [&](const Line& one) { return excess(side, one) > 0; }))
            used.push_back(&side);
    std::vector<double> height, most;
    std::vector<std::vector<double>> slope;
    std::vector<double> unit;  // sides in units of their largest excess
    for (const Side* side : used) {
        double largest = 1;
        for (const auto& line : lines_) largest = std::max(largest, std::abs(excess(*side, line)));
        unit.push_back(largest), most.push_back(side->most * largest);
    }
    for (const auto& line : lines_) {
        height.push_back(static_cast<double>(line.cost));
        slope.emplace_back();
        for (std::size_t s = 0; s < used.size(); ++s) slope.back().push_back(excess(*used[s], line) / unit[s]);
    }
    std::vector<double> multiplier;
    const double value = Program(height, slope, most).solve(multiplier);
    std::fill(at.begin(), at.end(), 0.0);
    for (std::size_t s = 0; s < used.size(); ++s) {
        at[used[s]->row] += used[s]->sign * multiplier[s] / unit[s];
        if (multiplier[s] > most[s] * 0.999) used[s]->most *= kGrowth;  // no known tree satisfies it
    }
    return value;
}

}  // namespace treeform::continuous_totals
