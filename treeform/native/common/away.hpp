#pragma once
// Parts of a search that are answered elsewhere: in another process, or on another machine. A question and its reply
// are whole numbers. Both sides hold the same table, so that a test is named by its column.
//
// A question with a bound begins with its upper bound, only what costs less is wanted, and a number of hints, with the
// hints.
// Its reply begins with `settled` and `cost`: the least cost in the part if that is below the bound, else kNoBound,
// and then nothing in the part costs less than `settled`. See treeform/engines/distributed.py.
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "control.hpp"

namespace treeform {

using Message = std::vector<std::int64_t>;

struct Away {
    std::function<Message(const Message&)> ask;  // an empty reply: the search has to stop
    int callers = 1;  // threads that call it
    explicit operator bool() const { return bool(ask); }
};

/// The same without a thread for each question: they are handed out, and replies come back in any order.
struct Desk {
    std::function<void(std::int64_t ticket, const Message& question)> send;
    std::function<std::pair<std::int64_t, Message>()> receive;  // an empty reply: the search has to stop
    explicit operator bool() const { return bool(send); }
};

/// Calls work(thread, index) for all indices, in order as far as one thread goes. The first exception is thrown again.
void share_out(int threads, std::size_t count, const std::function<void(int, std::size_t)>& work);

/// Numbers one after the other. What does not fit together throws: a message comes from another process, or from a
/// file.
class MessageReader {
public:
    explicit MessageReader(const Message& in) : in_(in) {}
    std::int64_t take();
    /// A number from `low` up to, and without, `high`.
    std::int64_t take(std::int64_t low, std::int64_t high);
    std::vector<std::int64_t> take_all(std::size_t count);
    FlatTree take_tree(std::size_t features, int labels);
    void finish() const;
    [[noreturn]] static void refuse();

private:
    const Message& in_;
    std::size_t at_ = 0;
};

/// The number of nodes, and their tests, children and labels.
void append_tree(Message& out, const FlatTree& tree);

}  // namespace treeform
