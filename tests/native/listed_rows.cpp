// Lists of rows count where they are used: in the memory of the search that reads them, and in its work.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "contree/search.hpp"
#include "contree/width.hpp"

using namespace treeform;
using namespace treeform::contree;

/// Nothing is divided here, with whatever instructions.
Divider treeform::contree::choose_divider(const char*) { return {}; }

namespace {

constexpr std::size_t kRows = 600;
constexpr int kClasses = 6;

bool expect(bool holds, const char* what) {
    if (!holds) std::fprintf(stderr, "%s\n", what);
    return holds;
}

}  // namespace

int main() {
    std::vector<double> x;
    std::vector<std::int32_t> label;
    for (std::size_t i = 0; i < kRows; ++i) x.push_back(static_cast<double>(i)), label.push_back(i % kClasses);
    Rows rows;
    rows.x = x.data(), rows.n = kRows, rows.features = 1, rows.label = label.data(), rows.classes = kClasses;
    const Losses losses = Losses::of(rows);
    Control control(kNone);
    RankedTable ranked(rows.x, rows.n, rows.features, kSlack, control);
    Table<Wide> table;
    Node<Wide> root;
    load_orders(rows, losses, ranked, table, root, control);
    RankedTable again(rows.x, rows.n, rows.features, kSlack, control);
    Table<Narrow> narrow;
    Node<Narrow> of_narrow;
    load_orders(rows, losses, again, narrow, of_narrow, control);
    const bool given_back = again.order.capacity() == 0 && again.rank[0].capacity() == 0;
    if (!expect(given_back, "sorted columns are held when they are copied")) return 1;

    const Settings settings;
    const ScanTable<Wide::Key, Wide::Sum> scans{};  // nothing is scanned
    Search<Wide> search(table, settings, control, scans);
    const std::size_t before = search.bytes();
    search.read_lists_of(root);
    if (!expect(search.bytes() >= before + kRows, "marks of rows are no memory")) return 1;

    ListedRows<Wide> lists(table, root, control);
    const std::size_t marks = lists.bytes();
    lists.labelled_by(root, 0);
    const std::size_t column = kRows * (sizeof(Wide::Id) + sizeof(Wide::Key) + 2);
    if (!expect(lists.bytes() >= marks + column, "a column is no memory")) return 1;
    lists.release();
    if (!expect(lists.bytes() == marks, "a column is not given back")) return 1;

    // Four leaves for six classes: the sides are listed, and settled by their classes.
    SplitWork<Wide> work(1);
    const Subproblem<Wide> task{root, 2, 3, 1, 0, 0, 0, nullptr, {}};
    search.evaluate(0, task, {0, kRows / 2}, 1, 1, work);
    if (!expect(search.counters().bounded == 1 && search.work() >= 4 * kRows, "a list is no work")) return 1;
    return 0;
}
