#pragma once
// Parts of a search that are answered elsewhere: in another process, or on another machine. A question and its reply
// are whole numbers. Both sides hold the same table, so that a test is named by its column.
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
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
    static void require(bool holds) {
        if (!holds) throw std::invalid_argument("a message of a part does not fit the problem");
    }
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
        require(!reads_ || count <= message_.size() - at_);
        values.resize(count);
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

/// A question with a bound: only what costs less than `upper` is wanted. Hints are bounds of pairs as replies state
/// them, entered on the way; they save work, and change nothing that is found. See treeform/engines/distributed.py.
struct Question {
    std::int64_t upper = 0;
    Message hints, about;

    void exchange(Numbers& io) { io.all(upper), io.list(hints), io.list(about); }
};

/// Its reply: `cost` is the least in the part if that is below the bound, else kNoBound, and then nothing in the part
/// costs less than `settled`. `pairs` has bounds of what lies on one side of its test and one of another, at
/// (value * tests + other test) * 2 + value of the other; before them stands the bound of what is not known.
template <class Counters>
struct Reply {
    std::int64_t settled = 0, cost = kNoBound;
    Message pairs, more;  // may be empty; what else the engine states
    Counters counters{};
    FlatTree tree;

    void exchange(Numbers& io) {
        io.all(settled, cost), io.list(pairs), io.list(more), io.counts(counters);
        io.list(tree.feature), io.list(tree.left), io.list(tree.right), io.list(tree.label);
    }
};

/// The least cost of the parts that have answered; of several that attain it the one with the least key counts, whoever
/// answers first.
struct LeastCost {
    std::int64_t cost;  // at first, what parts have to cost less than
    std::int64_t key = -1;  // of the part; -1: of none

    /// What a part is to cost less than.
    std::int64_t upper(std::int64_t own) const { return cost + (own < key); }
    /// Take a part over if it counts.
    bool take(std::int64_t found, std::int64_t own) {
        if (found >= kNoBound || found >= upper(own)) return false;
        cost = found, key = own;
        return true;
    }
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

/// What answers parts of one table; not for two threads at a time. A stop, and memory that runs out, are exceptions.
using PartSearch = std::function<Message(const Message&)>;

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
