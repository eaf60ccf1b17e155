#include "improver.hpp"

#include "../contree/width.hpp"
#include "class_space.hpp"
#include "deep_search.hpp"

namespace treeform::deep {
namespace {

/// Where fewer tests are allowed than the depth has room for, tests get a price at which the first tree has about as many;
/// what is found is pruned.
template <class W>
class ClassImprover final : public Improver {
public:
    using Space = ClassSpace<W>;
    using Cost = typename W::Cost;
    using Ptr = typename Space::Ptr;

    ClassImprover(const contree::Table<W>& table, const contree::Node<W>& root, const contree::Settings& settings,
                  contree::Control& control, const typename Space::Scans& scans)
        : table_(table), root_(root), settings_(settings), price_(static_cast<Cost>(settings.node_penalty)),
          control_(control), scans_(scans), offset_(table.losses.offset) {
        begin(0);
    }

    void first() override {
        search_->first();
        if (!is_limited() || search_->tree()->tests <= settings_.max_nodes) return;
        Cost low = 0, high = std::max<Cost>(1, root_.total_mass / 4);
        for (int step = 0; step < kSteps && low + 1 < high; ++step) {
            const Cost price = low + (high - low) / (step == 0 ? 16 : 2);
            begin(price);
            search_->first();
            (search_->tree()->tests <= settings_.max_nodes ? high : low) = price;
        }
    }
    void run() override { search_->run(); }
    std::uint64_t work() const override { return before_ + space_->work(); }
    std::uint64_t moves() const override { return search_->moves(); }
    std::vector<std::string> done() const override { return search_->done(); }

private:
    static constexpr int kSteps = 6;  // of the search for a price

    const contree::Table<W>& table_;
    const contree::Node<W>& root_;
    contree::Settings settings_;
    Cost price_;
    contree::Control& control_;
    const typename Space::Scans& scans_;
    std::int64_t offset_;
    std::uint64_t before_ = 0;  // work of spaces with other prices
    std::unique_ptr<Space> space_;
    std::unique_ptr<DeepSearch<Space>> search_;

    bool is_limited() const { return settings_.max_nodes < contree::full_tree(settings_.depth); }
    void begin(Cost more) {
        if (space_) before_ += space_->work();
        search_.reset(), space_.reset();
        settings_.node_penalty = price_ + more;
        space_ = std::make_unique<Space>(table_, settings_, control_, scans_);
        const int depth = static_cast<int>(std::min<std::int64_t>(settings_.depth, settings_.max_nodes));
        search_ = std::make_unique<DeepSearch<Space>>(*space_, root_, depth, settings_.seed,
                                                      Surroundings<Ptr>{[this](const Ptr& tree) { report(tree); },
                                                                        [this] { return outside(); }, [this] {
                                                                            control_.check();
                                                                            if (pace) pace();
                                                                        }});
    }

    void report(const Ptr& found) {
        const Ptr tree = is_limited() ? space_->pruned(root_, found, settings_.max_nodes, price_) : found;
        const std::int64_t cost = tree->cost + offset_;
        if (tells && cost >= control_.external_upper()) return;
        control_.publish(cost, offset_, space_->plan(tree));
        if (tells) control_.tighten(cost);
    }
    /// The proof's tree, if it is better; prices differ where tests are limited.
    Ptr outside() {
        std::int64_t cost = 0;
        const contree::PlanPtr plan = is_limited() ? nullptr : control_.best(cost);
        if (!plan || cost - offset_ >= search_->tree()->cost) return nullptr;
        return space_->written_out(root_, plan);
    }
};

}  // namespace

template <class W>
std::unique_ptr<Improver> improver_of(const contree::Table<W>& table, const contree::Node<W>& root,
                                      const contree::Settings& settings, contree::Control& control,
                                      const contree::ScanTable<typename W::Key, typename W::Sum>& scans) {
    return std::make_unique<ClassImprover<W>>(table, root, settings, control, scans);
}

#define TREEFORM_WIDTH(W)                                                                                     \
    template std::unique_ptr<Improver> improver_of<contree::W>(                                               \
        const contree::Table<contree::W>&, const contree::Node<contree::W>&, const contree::Settings&,        \
        contree::Control&, const contree::ScanTable<typename contree::W::Key, typename contree::W::Sum>&);
TREEFORM_WIDTH(Narrow)
TREEFORM_WIDTH(Medium)
TREEFORM_WIDTH(Wide)
TREEFORM_WIDTH(Huge)
#undef TREEFORM_WIDTH

}  // namespace treeform::deep
