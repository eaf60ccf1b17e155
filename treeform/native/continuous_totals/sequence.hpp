#pragma once
// Tasks that one worker or several do with the same result.
//
// They form one sequence: task k is chosen from what the tasks up to k - D came to, where D is the number that may be
// in flight. What is there earlier waits for its turn. So the choices, and with them everything found, do not depend on
// the number of workers, nor on how fast each of them is. (ConTree's root does the same, contree/root.hpp.)
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "control.hpp"

namespace treeform::continuous_totals {

class Sequence {
public:
    /// What is handed to a worker. Users derive theirs from it, so that the sequence is compiled once.
    struct Task {
        virtual ~Task() = default;
    };
    using Make = std::function<std::unique_ptr<Task>()>;
    /// Fill in the next task; false when that depends on a task in flight, or at the end. `idle`: none is in flight.
    using Choose = std::function<bool(Task&, bool idle)>;
    using Work = std::function<void(int worker, Task&)>;
    using Settle = std::function<void(Task&)>;

    /// `choose` and `settle` are called by one worker at a time, `settle` in the order of the sequence.
    Sequence(Make make, Choose choose, Work work, Settle settle);
    ~Sequence();
    /// All tasks; the first failure stops the others through `control` and is thrown here.
    void run(int workers, Control& control);

private:
    struct Slot {
        std::unique_ptr<Task> task;
        bool done = false;
    };

    Make make_;
    Choose choose_;
    Work work_;
    Settle settle_;
    std::mutex lock_;  // for all that follows
    std::condition_variable changed_;
    bool failed_ = false;
    std::size_t chosen_ = 0;
    std::deque<std::unique_ptr<Slot>> slots_;
    std::vector<Slot*> idle_;
    std::deque<Slot*> flight_;

    void loop(int worker);
    Slot* take();
    Slot* choose();
};

}  // namespace treeform::continuous_totals
