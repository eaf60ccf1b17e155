#pragma once
// The improvement search on a table of classes, whatever the width of its numbers.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../contree/control.hpp"
#include "../contree/scan.hpp"
#include "../contree/table.hpp"

namespace treeform::deep {

class Improver {
public:
    virtual ~Improver() = default;
    /// The first models; see deep_search.hpp.
    virtual void first() = 0;
    /// All other stages, after the first models where these are not made yet. Returns when there is nothing left to try.
    virtual void run() = 0;
    /// Elements that were read so far, about.
    virtual std::uint64_t work() const = 0;
    virtual std::uint64_t moves() const = 0;
    /// The stages that ran to their ends.
    virtual std::vector<std::string> done() const = 0;
    /// The best of the first models beside a given one, whatever is known already, and the work up to there; may be null.
    contree::PlanPtr first_tree;
    std::uint64_t first_work = 0;
    /// Whether the control's upper bound falls with what is found.
    bool tells = true;
    /// Called often during `run`; may wait, or throw Stopped.
    std::function<void()> pace;
};

/// What it finds is published in the control, and tightens its upper bound. All arguments stay as long as it does.
template <class W>
std::unique_ptr<Improver> improver_of(const contree::Table<W>& table, const contree::Node<W>& root,
                                      const contree::Settings& settings, contree::Control& control,
                                      const contree::ScanTable<typename W::Key, typename W::Sum>& scans);

}  // namespace treeform::deep
