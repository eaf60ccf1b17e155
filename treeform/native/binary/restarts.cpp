// The passes of a run: under which rules, by which worker, and with how much work.
//
// CA-DL8.5 is a sequence of passes: search under the rules, weaken them, again, until the root's lower bound reaches
// its upper bound (Algorithm 2 of the paper). A pass that left nothing out proves the optimum.
//
// DL8.5 is one pass without rules. A depth-first search alone is a poor anytime algorithm, and a proof is faster with a
// good upper bound, so passes under rules (guides) alternate with it: limited discrepancy, top-k, and the neighbourhood
// of the best tree. The first turn is the discrepancy rule's, as long as its restarts improve the tree. Then the proof
// gets a short one; what is not proved by then is hard. From there on a round gives the guides half of the work spent
// so far, and the proof twice that much when they found nothing, a third of it when they did. Results of all of them
// are in the cache, so little is done twice, and the rounds cost a proof at most a constant factor.
//
// Threads share the root tests of a pass: each worker takes the next one, with rows, cache and recursion of its own.
// They share the best tree, and the bounds of the root tests are put together after the pass. A short pass is left to
// the first worker.
#include "restarts.hpp"

#include "../common/workers.hpp"

namespace treeform::binary {

constexpr std::uint64_t kFirstShare = 300'000'000;  // of work: some tenths of a second
constexpr std::uint64_t kShort = 4'000'000;  // a pass that is not worth a thread

Restarts::Restarts(const Points& points, const Settings& settings, Control& control, Away away)
    : points_(points), settings_(settings), control_(control), away_(std::move(away)), workers_(std::max(1, settings.threads)) {
    auto row_sets = make_row_sets(points, settings);
    row_sets->limits = &control;
    shared_ = std::make_unique<SharedIncumbent>(*row_sets, settings, control);
    workers_[0] =
        std::make_unique<Search>(std::move(row_sets), settings, *shared_, control, settings.memory / workers_.size());
}

void Restarts::run(Outcome& out) {
    const RowSets& row_sets = workers_[0]->row_sets();
    out.simd = row_sets.simd, out.rows = row_sets.points, out.planes = row_sets.planes,
    out.lane_bits = row_sets.lane_bits;
    try {
        workers_[0]->first_tree();
        if (!settings_.start.empty()) workers_[0]->follow(settings_.start);
        if (settings_.strategy == "beam")
            beam();
        else
            guided();
    } catch (const Stopped&) {
    } catch (const std::bad_alloc&) {
        out.memory_stop = true;
    }
    const Cost proved = std::min<Cost>(shared_->proved, shared_->upper());
    out.complete = shared_->settled();
    out.lower = proved + row_sets.offset;
    for (const auto& worker : workers_)
        if (worker) count_in(out.counters, worker->counters);
    out.counters.restarts = restarts_;
    if (out.memory_stop) {  // the best tree has to be written, which takes little
        for (std::size_t w = 1; w < workers_.size(); ++w) workers_[w].reset();
        workers_[0]->release();
    }
    if (shared_->plan() && shared_->upper() < shared_->wanted()) {
        TreeWriter writer(const_cast<RowSets&>(row_sets), settings_);
        out.tree = writer.write(shared_->plan());
    }
    if (!unshown_.empty() && (out.tree.empty() || unshown_.cost < out.tree.cost)) out.tree = std::move(unshown_);
}

void Restarts::beam() {
    Rules rules(settings_.rules, settings_.relaxation, settings_.step);
    while (true) {
        pass(&rules, kAll);
        if (shared_->settled()) return;
        ++restarts_;
        if (!rules.relax(take_needs())) break;
    }
    pass(nullptr, kAll);
}

void Restarts::guided() {
    if ((!settings_.warm_up && !away_) || settings_.depth <= settings_.exact_depth) {
        pass(nullptr, kAll);
        return;
    }
    Guide guides[] = {{Rules({"discrepancy"}, "monotonic", 1, 0), 0}, {Rules({"top-k"}, "monotonic", 1, 1), 0}};
    for (int idle = 0; idle < 2 && !shared_->settled();) {
        const Cost before = shared_->upper();
        if (!turn(guides[0], kAll)) break;
        idle = shared_->upper() < before ? 0 : idle + 1;
    }
    if (!shared_->settled()) local_search(kFirstShare);
    if (away_) {
        if (!shared_->settled()) prove_in_parts();
        return;
    }
    std::uint64_t share = kFirstShare;
    while (!shared_->settled()) {
        pass(nullptr, share);
        const Cost before = shared_->upper();
        const std::uint64_t part = std::max(kFirstShare, spent() / 2), until = spent() + part;
        while (!shared_->settled() && spent() < until) {
            Guide& guide = guides[guides[1].spent < guides[0].spent];
            if (local_search_work_ < guide.spent && local_search(until - spent())) continue;
            if (!turn(guide, until - spent())) break;
        }
        share = shared_->upper() < before ? part / 3 : 2 * part;
    }
}

/// Local search around the best tree: its subtrees of exact_depth + 1 levels, then larger ones. False when done.
bool Restarts::local_search(std::uint64_t most) {
    if (centre_ != shared_->plan()) centre_ = shared_->plan(), levels_ = settings_.exact_depth + 1;
    if (!centre_ || levels_ >= settings_.depth) return false;
    const std::uint64_t before = spent();
    const PlanPtr tree = centre_;
    workers_[0]->local_search(tree, levels_, most);
    local_search_work_ += spent() - before;
    if (!workers_[0]->paused) ++levels_;
    return true;
}

/// One pass under a guide's rules; false when there is nothing to relax.
bool Restarts::turn(Guide& guide, std::uint64_t most) {
    const std::uint64_t before = spent();
    const bool paused = pass(&guide.rules, most);
    guide.spent += spent() - before;
    const Rules::Needs needs = take_needs();
    if (paused) return true;  // it goes on at the same thresholds
    ++restarts_;
    return guide.rules.relax(needs);
}

/// One search of the root tests by all workers; true when it stopped at its share of work.
bool Restarts::pass(const Rules* rules, std::uint64_t most) {
    shared_->next = 0;
    const std::uint64_t before = spent();
    const std::size_t workers = last_pass_ < kShort ? 1 : workers_.size();
    try {
        run_workers(
            static_cast<int>(workers),
            [&](int w) { work(static_cast<std::size_t>(w), rules, workers > 1 ? most / workers : most); },
            [&] { control_.stop(); });
    } catch (...) {
        collect();
        throw;
    }
    collect();
    last_pass_ = spent() - before;
    bool paused = false;
    for (std::size_t w = 0; w < workers; ++w) paused = paused || (workers_[w] && workers_[w]->paused);
    return paused;
}

void Restarts::work(std::size_t worker, const Rules* rules, std::uint64_t most) {
    auto& search = workers_[worker];
    if (!search) {
        auto row_sets = make_row_sets(points_, settings_);
        row_sets->limits = &control_;
        search = std::make_unique<Search>(std::move(row_sets), settings_, *shared_, control_,
                                          settings_.memory / workers_.size());
    }
    search->pass(rules, most);
}

/// What the workers have proved about the root tests holds from now on.
void Restarts::collect() {
    Cost lower = kNever;
    for (const auto& worker : workers_) {
        if (!worker) continue;
        shared_->prove(worker->root_known());
        const std::vector<Cost>& mine = worker->root_lower();
        if (root_lower_.size() < mine.size()) root_lower_.resize(mine.size());
        for (std::size_t j = 0; j < mine.size(); ++j) root_lower_[j] = std::max(root_lower_[j], mine[j]);
    }
    if (root_lower_.empty()) return;
    for (const Cost c : root_lower_) lower = std::min(lower, c);
    shared_->prove(std::min(lower, shared_->upper()));
}

Rules::Needs Restarts::take_needs() {
    Rules::Needs all = Rules::nothing();
    for (const auto& worker : workers_)
        if (worker)
            for (int i = 0; i < kMaxRules; ++i) all[i] = std::min(all[i], worker->needs[i]), worker->needs[i] = kFree;
    return all;
}

std::uint64_t Restarts::spent() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker ? worker->counters.work : 0;
    return sum;
}

}  // namespace treeform::binary
