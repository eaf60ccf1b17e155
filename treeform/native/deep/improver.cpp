#include "improver.hpp"

#include <bit>

#include "../contree/width.hpp"
#include "class_space.hpp"
#include "deep_search.hpp"
#include "few_columns.hpp"
#include "few_tests.hpp"

namespace treeform::deep {
namespace {

/// Where fewer tests are allowed than the depth has room for, tests get a price: what the last one that is allowed gains in
/// the best tree so far. The search begins again where that has changed much. What it finds has its tests divided anew;
/// see few_tests.hpp. Searches for less depth, down to the least that has room for all these tests, take turns with it:
/// each has as much of the work, and the one that found the best tree has some times that.
template <class W>
class ClassImprover final : public Improver {
public:
    using Space = ClassSpace<W>;
    using Cost = typename W::Cost;
    using Ptr = typename Space::Ptr;

    /// `columns` are those of the table in the whole one; null: all.
    ClassImprover(const contree::Table<W>& table, const contree::Node<W>& root, const contree::Settings& settings,
                  contree::Control& control, const typename Space::Scans& scans,
                  const std::vector<int>* columns = nullptr)
        : table_(table), root_(root), settings_(settings), price_(static_cast<Cost>(settings.node_penalty)),
          control_(control), scans_(scans), columns_(columns), offset_(table.losses.offset) {}

    void first() override {
        begin(0);
        first_of_all();
        first_tree = written(search_->tree()), first_work = work_ = work();
        if (!settings_.start.empty()) search_->begin_with(tests_of<Cost>(settings_.start));
    }
    void run() override {
        if (!search_) first();
        if (!is_limited()) return search_->run();
        for (int ends = 0; ends < kEnds;)
            if (!take_turn(next())) ++ends;
    }
    std::uint64_t work() const override {
        return before_ + (space_ ? space_->work() : 0) + (plain_ ? plain_->work() : 0);
    }
    std::uint64_t moves() const override {
        std::uint64_t sum = moves_ + (search_ ? search_->moves() : 0);
        for (const Turns& one : less_) sum += one.search ? one.search->moves() : 0;
        return sum;
    }
    std::vector<std::string> done() const override { return search_ ? search_->done() : std::vector<std::string>{}; }

private:
    static constexpr int kEnds = 4;  // of searches that have nothing left to try at their prices of limited tests
    static constexpr int kLeastDepth = 4;
    static constexpr std::uint64_t kLead = 3;  // times the work of others
    struct Turns {  // of a search for less depth
        int depth;
        std::unique_ptr<DeepSearch<Space>> search{};  // null before its first turn at these prices
        std::uint64_t work = 0;
    };

    void first_of_all() {
        search_->first();
        if (!is_limited()) return;
        if (search_->tree()->tests <= settings_.max_nodes) {
            limited_ = search_->tree();
            return;
        }
        divide_tests(*search_, nullptr);
        begin(few_->gain());
        search_->begin_with(limited_);
        search_->first();
    }
    /// The search that has had least of its share; null: that of the whole depth.
    Turns* next() {
        const auto part = [&](const Turns* one) { return (one ? one->work : work_) / (one == lead_ ? kLead : 1); };
        Turns* least = nullptr;
        for (Turns& one : less_)
            if (part(&one) < part(least)) least = &one;
        return least;
    }
    /// A stage of a search, and its tests divided anew; whether it has another one.
    bool take_turn(Turns* less) {
        const std::uint64_t before = work();
        if (less && !less->search) {
            less->search = search_of(less->depth);
            if (less->work == 0) less->search->first();
            less->search->go_on_from(limited_);
        }
        DeepSearch<Space>& search = less ? *less->search : *search_;
        const bool goes_on = search.step();
        search.give_back();
        divide_tests(search, less);
        (less ? less->work : work_) += work() - before;
        change_price();
        return goes_on;
    }
    /// Where the last test gains much more or less than its price by now, the searches go on at another one.
    void change_price() {
        const Cost price = few_->gain(), change = price < more_ ? more_ - price : price - more_;
        if (change <= 1 + more_ / 4) return;
        begin((price + more_) / 2);
        search_->go_on_from(limited_);
    }
    void divide_tests(const DeepSearch<Space>& search, Turns* less) {
        const Ptr found = few_->best(search.tree(), true);
        publish(found);
        if (!limited_ || Space::better(found->cost, limited_->cost)) limited_ = found, lead_ = less;
    }
    const contree::Table<W>& table_;
    const typename Space::Rows root_;
    contree::Settings settings_;
    Cost price_;
    contree::Control& control_;
    const typename Space::Scans& scans_;
    const std::vector<int>* columns_;
    std::int64_t offset_;
    std::uint64_t before_ = 0, moves_ = 0;  // with other prices of tests
    Cost more_ = 0;                         // of a test
    std::unique_ptr<Space> plain_, space_;  // of limited tests without that price, and with it
    std::unique_ptr<FewTests<Space>> few_;
    Ptr limited_;                                 // the best tree of so few tests
    std::unique_ptr<DeepSearch<Space>> search_;   // of the whole depth
    std::uint64_t work_ = 0;                      // of it, with the first trees
    std::vector<Turns> less_;                     // of limited tests, the least depth first
    Turns* lead_ = nullptr;                       // whose tree is the best one; null: that of the whole depth

    bool is_limited() const { return settings_.max_nodes < contree::full_tree(settings_.depth); }
    void begin(Cost more) {
        before_ = work() - (plain_ ? plain_->work() : 0), moves_ = moves();
        for (Turns& one : less_) one.search.reset();
        search_.reset(), space_.reset();
        more_ = more;
        const auto space = [&](Cost price) {
            settings_.node_penalty = price;
            return std::make_unique<Space>(table_, root_.node(), settings_, control_, scans_, price > price_);
        };
        if (is_limited() && !few_) {
            plain_ = space(price_);
            few_ = std::make_unique<FewTests<Space>>(*plain_, root_, depth(), settings_.max_nodes);
            const auto room = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(settings_.max_nodes)));
            const int least = std::max(kLeastDepth, room);
            for (int less = depth(); less > least;) less_.insert(less_.begin(), {less = (less + least) / 2});
        }
        space_ = space(price_ + more);
        search_ = search_of(depth());
    }
    int depth() const { return static_cast<int>(std::min<std::int64_t>(settings_.depth, settings_.max_nodes)); }
    std::unique_ptr<DeepSearch<Space>> search_of(int depth) {
        return std::make_unique<DeepSearch<Space>>(*space_, root_, depth, settings_.seed,
                                                   Surroundings<Ptr>{[this](const Ptr& tree) { report(tree); },
                                                                     [this] { return outside(); }, [this] {
                                                                         control_.check();
                                                                         if (pace) pace();
                                                                     }});
    }

    void report(const Ptr& found) { publish(is_limited() ? few_->best(found, false) : found); }
    void publish(const Ptr& tree) {
        const std::int64_t cost = tree->cost + offset_;
        if (cost >= (tells ? control_.external_upper() : settings_.upper)) return;
        control_.publish(cost, offset_, written(tree));
        if (tells) control_.tighten(cost);
    }
    contree::PlanPtr written(const Ptr& tree) const {
        const contree::PlanPtr plan = space_->plan(tree);
        return columns_ ? of_whole_table(plan) : plan;
    }
    contree::PlanPtr of_whole_table(const contree::PlanPtr& plan) const {
        using contree::Plan;
        if (plan->kind != Plan::split) return plan;
        const Test test{(*columns_)[static_cast<std::size_t>(plan->test.feature)], plan->test.key};
        return std::make_shared<const Plan>(
            Plan{Plan::split, test, of_whole_table(plan->left), of_whole_table(plan->right)});
    }
    /// The proof's tree, if it is better; prices differ where tests are limited, and features where columns are left out.
    Ptr outside() {
        std::int64_t cost = 0;
        const contree::PlanPtr plan = is_limited() || columns_ ? nullptr : control_.best(cost);
        if (!plan || cost - offset_ >= search_->tree()->cost) return nullptr;
        return space_->written_out(root_.node(), plan);
    }
};

/// On a table of very many columns: a greedy tree of all, and the search on those that look best; see few_columns.hpp.
template <class W>
class WideImprover final : public Improver {
public:
    using Space = ClassSpace<W>;
    using Rows = typename Space::Rows;
    using Ptr = typename Space::Ptr;

    WideImprover(const contree::Table<W>& table, const contree::Node<W>& root, const contree::Settings& settings,
                 contree::Control& control, const typename Space::Scans& scans)
        : table_(table), root_(root), settings_(settings), control_(control), scans_(scans) {}

    void first() override {
        Screening screening(table_.features);
        {
            Space space(table_, root_.node(), settings_, control_, scans_);
            for (const int feature : settings_.start.feature)
                if (feature >= 0) screening.take(feature);
            const Ptr tree = grown(space, root_, settings_.depth, screening);
            work_ = space.work();
            const std::int64_t cost = tree->cost + table_.losses.offset;
            if (tree->tests <= settings_.max_nodes && cost < control_.external_upper()) {
                control_.publish(cost, table_.losses.offset, space.plan(tree));
                control_.tighten(cost);
            }
        }
        few_ = std::make_unique<FewColumns<W>>(table_, root_.node(), screening.columns());
        if (few_->columns.empty()) return;
        few_settings_ = settings_;
        for (int& feature : few_settings_.start.feature)
            if (feature >= 0) feature = few_->place_of(feature);
        if (!settings_.clashes.empty()) {
            few_settings_.clashes.clear();
            for (const int feature : few_->columns) few_settings_.clashes.push_back(settings_.clash_of(feature));
        }
        search_ = std::make_unique<ClassImprover<W>>(few_->table, few_->node, few_settings_, control_, scans_,
                                                     &few_->columns);
        search_->first();
        first_tree = search_->first_tree, first_work = work_ + search_->first_work;
    }
    void run() override {
        if (!few_) first();
        if (!search_) return;
        search_->tells = tells;
        search_->pace = [this] {
            if (pace) pace();
        };
        search_->run();
    }
    std::uint64_t work() const override { return work_ + (search_ ? search_->work() : 0); }
    std::uint64_t moves() const override { return search_ ? search_->moves() : 0; }
    std::vector<std::string> done() const override {
        std::vector<std::string> stages = search_ ? search_->done() : std::vector<std::string>{};
        for (auto& one : stages) one += " (of " + std::to_string(few_->columns.size()) + " columns)";
        return stages;
    }

private:
    static constexpr std::size_t kAtRoot = 64, kBelow = 16, kMost = 160;  // columns

    const contree::Table<W>& table_;
    const Rows root_;
    const contree::Settings& settings_;
    contree::Control& control_;
    const typename Space::Scans& scans_;
    std::uint64_t work_ = 0;
    std::unique_ptr<FewColumns<W>> few_;
    contree::Settings few_settings_;  // with the places of the features among these columns
    std::unique_ptr<ClassImprover<W>> search_;

    /// The tree of least impurities; the columns that look best at its upper nodes are taken.
    Ptr grown(Space& space, const Rows& rows, int height, Screening& screening) const {
        const Ptr leaf = space.leaf(rows);
        if (height == 0 || space.size(rows) < 2 || leaf->cost <= 0) return leaf;
        std::vector<double> gain;
        std::vector<Test> test;
        space.greedy_tests(rows, gain, test);
        const auto best = static_cast<std::size_t>(std::max_element(gain.begin(), gain.end()) - gain.begin());
        if (gain[best] < 0) return leaf;
        screening.take(static_cast<int>(best));
        if (screening.size() < kMost) screening.take_best(gain, height == settings_.depth ? kAtRoot : kBelow);
        Rows left, right;
        if (!space.split(rows, test[best], left, right)) return leaf;
        const Ptr below = grown(space, left, height - 1, screening);
        const Ptr tree = space.join(test[best], below, grown(space, right, height - 1, screening));
        return tree->cost < leaf->cost ? tree : leaf;
    }
};

}  // namespace

template <class W>
std::unique_ptr<Improver> improver_of(const contree::Table<W>& table, const contree::Node<W>& root,
                                      const contree::Settings& settings, contree::Control& control,
                                      const contree::ScanTable<typename W::Key, typename W::Sum>& scans) {
    if (static_cast<std::size_t>(table.features) > kManyColumns)
        return std::make_unique<WideImprover<W>>(table, root, settings, control, scans);
    return std::make_unique<ClassImprover<W>>(table, root, settings, control, scans);
}

#define TREEFORM_WIDTH(W)                                                                                     \
    template std::unique_ptr<Improver> improver_of<contree::W>(                                               \
        const contree::Table<contree::W>&, const contree::Node<contree::W>&, const contree::Settings&,        \
        contree::Control&, const contree::ScanTable<typename contree::W::Key, typename contree::W::Sum>&);
TREEFORM_WIDTH(Narrow)
TREEFORM_WIDTH(Medium)
TREEFORM_WIDTH(Wide)
TREEFORM_WIDTH(PricedWide)
TREEFORM_WIDTH(Huge)
#undef TREEFORM_WIDTH

}  // namespace treeform::deep
