#pragma once
// Parts of a search that are answered elsewhere: in another process, or on another machine. A question and its reply
// are whole numbers. Both sides hold the same table, so that a test is named by its column.
//
// A question with a bound begins with its upper bound, only what costs less is wanted, and a number of hints, with the
// hints. Its reply begins with `settled` and `cost`: the least cost in the part if that is below the bound, else
// kNoBound, and then nothing in the part costs less than `settled`. See treeform/engines/distributed.py.
#include <cstdint>
#include <functional>
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

/// Calls work(thread, index) for all indices, in order as far as one thread goes. The first exception is thrown again.
void share_out(int threads, std::size_t count, const std::function<void(int, std::size_t)>& work);

/// A message from its first number to the last. One function lists what is in it for writer and reader alike, so that both
/// sides agree: `io.all` numbers, `io.each` of a vector, `io.count` its items, `io.require` what has to hold.
class MessageWriter {
public:
    template <class... Numbers>
    void all(const Numbers&... numbers) {
        (out.push_back(static_cast<std::int64_t>(numbers)), ...);
    }
    template <class Number>
    void each(const std::vector<Number>& numbers) {
        for (const Number number : numbers) all(number);
    }
    template <class Item>
    void count(const std::vector<Item>& items, std::size_t) {
        all(items.size());
    }
    void tree(const FlatTree& tree, std::size_t features, int labels);
    void require(bool) {}
    Message out;
};

/// What does not fit together throws: a message comes from another process, or from a file.
class MessageReader {
public:
    explicit MessageReader(const Message& in) : in_(in) {}
    template <class... Numbers>
    void all(Numbers&... numbers) {
        (take_one(numbers), ...);
    }
    template <class Number>
    void each(std::vector<Number>& numbers) {
        for (Number& number : numbers) take_one(number);
    }
    template <class Item>
    void count(std::vector<Item>& items, std::size_t most) {
        items.resize(std::size_t(take(0, std::int64_t(most) + 1)));
    }
    void tree(FlatTree& tree, std::size_t features, int labels);
    void require(bool holds) {
        if (!holds) refuse();
    }
    std::int64_t take();
    /// A number from `low` up to, and without, `high`.
    std::int64_t take(std::int64_t low, std::int64_t high);
    std::vector<std::int64_t> take_all(std::size_t count);
    void finish() const;
    [[noreturn]] static void refuse();

private:
    const Message& in_;
    std::size_t at_ = 0;

    void take_one(bool& flag) { flag = take(0, 2) != 0; }
    template <class Number>
    void take_one(Number& number) {
        const std::int64_t taken = take();
        require(std::in_range<Number>(taken));
        number = static_cast<Number>(taken);
    }
};

template <class Fields>
Message written(const Fields& fields) {
    MessageWriter io;
    fields(io);
    return std::move(io.out);
}

template <class Fields>
void read_all(const Message& in, const Fields& fields) {
    MessageReader io(in);
    fields(io);
    io.finish();
}

/// The least cost of the parts that have answered; of several that attain it the one with the least key counts, whoever
/// answers first.
struct LeastCost {
    using Key = std::pair<std::int64_t, std::int64_t>;
    std::int64_t cost;  // at first, what parts have to cost less than
    bool tied = false;  // whether it is of a part
    Key key{};

    /// What a part is to cost less than.
    std::int64_t upper(Key own) const { return cost + (tied && own < key); }
    /// Take a part over if it counts.
    bool take(std::int64_t found, Key own) {
        if (found >= upper(own)) return false;
        cost = found, key = own, tied = true;
        return true;
    }
};

/// Asks about all parts, in order as far as callers are free. `question` makes one from the replies so far, empty
/// where none is needed, and `read` takes the reply; one call of them at a time.
void ask_all(const Away& away, const Stoppable& control, std::size_t count,
             const std::function<Message(std::size_t)>& question,
             const std::function<void(std::size_t, const Message&)>& read);

}  // namespace treeform
