#pragma once
// Parts of a search that are answered elsewhere: in another process, or on another machine. A question and its reply
// are whole numbers. Both sides hold the same table, so that a test is named by its column.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "control.hpp"
#include "counters.hpp"
#include "workers.hpp"

namespace treeform {

using Message = std::vector<std::int64_t>;

struct Away {
    std::function<Message(const Message&)> ask;  // an empty reply: the search has to stop
    int callers = 1;  // threads that call it
    explicit operator bool() const { return bool(ask); }
};

/// The numbers of a message from the first to the last. One function lists them for writer and reader alike, so that
/// both agree. What does not fit together throws: a message comes from another process, or from a file.
class Numbers {
public:
    template <class Exchange>
    static Message written(const Exchange& exchange) {
        Numbers io;
        exchange(io);
        return std::move(io.message_);
    }
    template <class Exchange>
    static void read(const Message& message, const Exchange& exchange) {
        Numbers io;
        io.message_ = message, io.reads_ = true;
        exchange(io);
        require(io.at_ == message.size());
    }
    static void require(bool holds);
    template <class... Values>
    void all(Values&... values) {
        (one(values), ...);
    }
    template <class Values>
    void each(Values& values) {
        for (auto& value : values) one(value);
    }
    template <class Value>
    void list(std::vector<Value>& values) {
        std::size_t count = values.size();
        one(count);
        rest(values, count);
    }
    /// The next `count` values, or all that remain.
    template <class Value>
    void rest(std::vector<Value>& values, std::optional<std::size_t> count = {}) {
        require(!reads_ || count.value_or(0) <= message_.size() - at_);
        if (reads_) values.resize(count.value_or(message_.size() - at_));
        each(values);
    }
    template <class Counters>
    void counts(Counters& counters) {
        auto numbers = std::bit_cast<Counts<Counters>>(counters);
        each(numbers);
        counters = std::bit_cast<Counters>(numbers);
    }

private:
    Message message_;
    bool reads_ = false;
    std::size_t at_ = 0;

    template <class Value>
    void one(Value& value) {
        if (!reads_) return message_.push_back(static_cast<std::int64_t>(value));
        require(at_ < message_.size());
        value = static_cast<Value>(message_[at_]);
        require(static_cast<std::int64_t>(value) == message_[at_++]);
    }
};

/// A question with a bound: only what costs less than `upper` is wanted. Hints save work, and change nothing that is
/// found. See treeform/engines/distributed.py.
struct Question {
    std::int64_t upper = 0;
    Message hints, about;

    void exchange(Numbers& io) { io.all(upper), io.list(hints), io.rest(about); }
};

/// Its reply: `cost` is the least in the part if that is below the bound, else kNoBound, and then nothing in the part
/// costs less than `settled`.
template <class Counters>
struct Reply {
    std::int64_t settled = 0, cost = kNoBound;
    Counters counters{};
    Message more, pairs;  // what else the engine states, bounds of pairs of tests
    FlatTree tree;

    void exchange(Numbers& io) {
        io.all(settled, cost), io.counts(counters);
        io.list(more), io.list(pairs);
        io.list(tree.feature), io.list(tree.left), io.list(tree.right), io.list(tree.label);
    }
};

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
        if (found >= kNoBound || found >= upper(own)) return false;
        cost = found, key = own, tied = true;
        return true;
    }
};

/// Bounds of what lies on one side of a test and one of another: the same rows are met from both. Of a test they stand
/// at (value * tests + other test) * 2 + value of the other. There are none where messages would be too long.
class PairBounds {
public:
    void begin(std::size_t tests, std::size_t most, std::int64_t unknown) {
        tests_ = tests <= most ? tests : 0;
        known_.assign(4 * tests_ * tests_, unknown);
    }
    Message of(std::size_t test) const;
    void note(std::size_t test, const Message& found);

private:
    std::size_t tests_ = 0;
    Message known_;
};

/// Asks about all parts, in order as far as callers are free. `question` makes one from the replies so far, if one is
/// needed, and `read` takes the reply; one call of them at a time.
template <class Counters, class MakeQuestion, class ReadReply>
void ask_all(const Away& away, const Stoppable& control, Counters& counters, std::size_t count,
             const MakeQuestion& question, const ReadReply& read) {
    std::mutex mutex;
    share_out(away.callers, count, [&](int, std::size_t i) {
        std::optional<Question> asked;
        {
            const std::lock_guard lock(mutex);
            control.check();
            asked = question(i);
        }
        if (!asked) return;
        const Message answer = away.ask(Numbers::written([&](Numbers& io) { asked->exchange(io); }));
        if (answer.empty()) throw Stopped{};
        const std::lock_guard lock(mutex);
        Reply<Counters> reply;
        Numbers::read(answer, [&](Numbers& io) { reply.exchange(io); });
        count_in(counters, reply.counters);
        read(i, reply);
    });
}

/// The reply to a question that came as a message: `find(question, reply)`, which counts in `counters`.
template <class Counters, class Find>
Message answered(const Message& message, const Counters& counters, const Find& find) {
    Question question;
    Reply<Counters> reply;
    Numbers::read(message, [&](Numbers& io) { question.exchange(io); });
    const Counters before = counters;
    find(question, reply);
    reply.counters = since(before, counters);
    return Numbers::written([&](Numbers& io) { reply.exchange(io); });
}

}  // namespace treeform
