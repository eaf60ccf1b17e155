#include "value_improver.hpp"

#include "../regression/absolute.hpp"
#include "../regression/squared.hpp"
#include "deep_search.hpp"
#include "value_space.hpp"

namespace treeform::deep {
namespace {

template <class LossOf>
class ValueImprover final : public Improver {
public:
    using Space = ValueSpace<LossOf>;
    using Ptr = typename Space::Ptr;

    ValueImprover(const regression::Table& table, const regression::Subset& root,
                  const regression::Settings& settings, regression::Control& control, regression::Incumbent& incumbent)
        : root_(root), incumbent_(incumbent), start_(settings.start), space_(table, root, settings, control),
          search_(space_, root, settings.depth, settings.seed,
                  {[this](const Ptr& tree) { incumbent_.offer(space_.value(root_, tree), space_.plan(tree)); },
                   [this] { return outside(); },
                   [this, &control] {
                       control.check();
                       if (pace) pace();
                   }}) {}

    void first() override {
        search_.first();
        if (!start_.empty()) search_.begin_with(tests_of<double>(start_));
    }
    void run() override { search_.run(); }
    std::uint64_t work() const override { return space_.work(); }
    std::uint64_t moves() const override { return search_.moves(); }
    std::vector<std::string> done() const override { return search_.done(); }

private:
    const regression::Subset& root_;
    regression::Incumbent& incumbent_;
    const FlatTree& start_;
    Space space_;
    DeepSearch<Space> search_;

    Ptr outside() {
        const regression::PlanPtr plan = incumbent_.plan();
        if (!plan || !Space::better(incumbent_.value().cost, search_.tree()->cost)) return nullptr;
        return space_.written_out(root_, plan);
    }
};

}  // namespace

template <class LossOf>
std::unique_ptr<Improver> value_improver(const regression::Table& table, const regression::Subset& root,
                                         const regression::Settings& settings, regression::Control& control,
                                         regression::Incumbent& incumbent) {
    return std::make_unique<ValueImprover<LossOf>>(table, root, settings, control, incumbent);
}

template std::unique_ptr<Improver> value_improver<regression::Squared>(const regression::Table&,
                                                                       const regression::Subset&,
                                                                       const regression::Settings&,
                                                                       regression::Control&, regression::Incumbent&);
template std::unique_ptr<Improver> value_improver<regression::Absolute>(const regression::Table&,
                                                                        const regression::Subset&,
                                                                        const regression::Settings&,
                                                                        regression::Control&, regression::Incumbent&);

}  // namespace treeform::deep
