#include "away.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>

#include "workers.hpp"

namespace treeform {

void share_out(int threads, std::size_t count, const std::function<void(int, std::size_t)>& work) {
    if (threads <= 1 || count < 2) {
        for (std::size_t i = 0; i < count; ++i) work(0, i);
        return;
    }
    std::atomic<std::size_t> next{0};
    run_workers(
        static_cast<int>(std::min(static_cast<std::size_t>(threads), count)),
        [&](int thread) {
            for (std::size_t i; (i = next++) < count;) work(thread, i);
        },
        [&] { next = count; });
}

void ask_all(const Away& away, const Stoppable& control, std::size_t count,
             const std::function<Message(std::size_t)>& question,
             const std::function<void(std::size_t, const Message&)>& read) {
    std::mutex mutex;
    share_out(away.callers, count, [&](int, std::size_t i) {
        Message asked;
        {
            const std::lock_guard lock(mutex);
            control.check();
            asked = question(i);
        }
        if (asked.empty()) return;
        const Message reply = away.ask(asked);
        if (reply.empty()) throw Stopped{};
        const std::lock_guard lock(mutex);
        read(i, reply);
    });
}

void MessageReader::refuse() { throw std::invalid_argument("a message of a part does not fit the problem"); }

std::int64_t MessageReader::take() {
    if (at_ >= in_.size()) refuse();
    return in_[at_++];
}

std::int64_t MessageReader::take(std::int64_t low, std::int64_t high) {
    const std::int64_t number = take();
    if (number < low || number >= high) refuse();
    return number;
}

std::vector<std::int64_t> MessageReader::take_all(std::size_t count) {
    if (count > in_.size() - at_) refuse();
    at_ += count;
    return {in_.begin() + std::ptrdiff_t(at_ - count), in_.begin() + std::ptrdiff_t(at_)};
}

/// The number of nodes, and their tests, children and labels.
void MessageWriter::tree(const FlatTree& tree, std::size_t, int) {
    all(tree.feature.size());
    for (std::size_t i = 0; i < tree.feature.size(); ++i)
        if (tree.feature[i] < 0)
            all(tree.feature[i], tree.label[i]);
        else
            all(tree.feature[i], tree.left[i], tree.right[i]);
}

void MessageReader::tree(FlatTree& tree, std::size_t features, int labels) {
    const std::int64_t n = take(1, std::int64_t(1) << 20);
    for (std::int64_t i = 0; i < n; ++i) {
        const int at = tree.add();
        tree.feature[at] = std::int32_t(take(-1, std::int64_t(features)));
        if (tree.feature[at] < 0) {
            tree.label[at] = std::int32_t(take(0, labels));
            continue;
        }
        tree.left[at] = std::int32_t(take(i + 1, n)), tree.right[at] = std::int32_t(take(i + 1, n));
    }
}

void MessageReader::finish() const {
    if (at_ != in_.size()) refuse();
}

}  // namespace treeform
