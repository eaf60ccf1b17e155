#pragma once
// Clauses of the formula and of the proof in one arena, found again by their content when they are deleted.
#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

namespace treeform::rup {

using Lit = std::uint32_t;        // 2v for the variable v, 2v + 1 for its negation, v from 0
using Id = std::uint32_t;         // a clause
inline constexpr Id kNone = 0xFFFFFFFFu;

inline Lit to_lit(std::int32_t signed_literal) {
    return signed_literal > 0 ? 2u * (static_cast<Lit>(signed_literal) - 1)
                              : 2u * (static_cast<Lit>(-static_cast<std::int64_t>(signed_literal)) - 1) + 1;
}
inline std::int32_t to_signed(Lit lit) {
    const auto variable = static_cast<std::int32_t>(lit >> 1) + 1;
    return lit & 1 ? -variable : variable;
}

struct Clause {
    std::uint64_t start;
    std::uint32_t size;
    bool core = false;            // the refutation needs it
    bool active = true;
    Id next = kNone;              // in its bucket
};

class Store {
public:
    static constexpr std::size_t kPerVariable = 2 * sizeof(std::uint64_t);  ///< Bytes: the stamps of both literals.

    Store() = default;
    explicit Store(std::size_t variables) : stamp_(2 * variables, 0) {}

    Id add(const std::vector<Lit>& lits) {
        if (clauses_.size() >= 0x7FFFFFFFu) throw std::bad_alloc();
        if (clauses_.size() >= buckets_.size()) rehash();
        const Id id = static_cast<Id>(clauses_.size());
        clauses_.push_back({arena_.size(), static_cast<std::uint32_t>(lits.size())});
        arena_.insert(arena_.end(), lits.begin(), lits.end());
        chain(id);
        return id;
    }
    /// An active clause with exactly these literals, no longer to be found; kNone if there is none.
    Id take(const std::vector<Lit>& lits) {
        if (buckets_.empty()) return kNone;
        ++now_;
        for (const Lit lit : lits) stamp_[lit] = now_;
        for (Id* link = &bucket(lits.data(), lits.size()); *link != kNone; link = &clauses_[*link].next) {
            const Id id = *link;
            if (clauses_[id].size == lits.size() && same(id)) {
                *link = clauses_[id].next;
                return id;
            }
        }
        return kNone;
    }
    /// Undo `take`.
    void chain(Id id) {
        Id& head = bucket(lits(id), clauses_[id].size);
        clauses_[id].next = head;
        head = id;
    }
    /// Literals without repetition; false for a clause that is always true.
    bool normalise(const std::vector<std::int32_t>& given, std::vector<Lit>& out) {
        out.clear();
        ++now_;
        for (const auto literal : given) {
            const Lit lit = to_lit(literal);
            if (stamp_[lit ^ 1] == now_) return false;
            if (stamp_[lit] == now_) continue;
            stamp_[lit] = now_;
            out.push_back(lit);
        }
        return true;
    }

    Clause& operator[](Id id) { return clauses_[id]; }
    Lit* lits(Id id) { return arena_.data() + clauses_[id].start; }
    std::size_t size() const { return clauses_.size(); }
    std::size_t bytes() const {
        return arena_.capacity() * sizeof(Lit) + clauses_.capacity() * sizeof(Clause)
               + buckets_.capacity() * sizeof(Id);
    }

private:
    Id& bucket(const Lit* lits, std::size_t n) {
        std::uint64_t sum = 0, mix = 0;
        for (std::size_t i = 0; i < n; ++i) {
            std::uint64_t h = (lits[i] + 1) * 0x9E3779B97F4A7C15ull;
            h ^= h >> 29;
            sum += h, mix ^= h * 0xBF58476D1CE4E5B9ull;
        }
        return buckets_[(sum ^ (mix >> 17)) & (buckets_.size() - 1)];
    }
    bool same(Id id) {
        const Lit* all = lits(id);
        return std::all_of(all, all + clauses_[id].size, [this](Lit lit) { return stamp_[lit] == now_; });
    }
    void rehash() {
        std::vector<Id> findable;
        for (const Id head : buckets_)
            for (Id id = head; id != kNone; id = clauses_[id].next) findable.push_back(id);
        buckets_.assign(std::max<std::size_t>(1024, 2 * buckets_.size()), kNone);
        for (const Id id : findable) chain(id);
    }

    std::vector<Lit> arena_;
    std::vector<Clause> clauses_;
    std::vector<Id> buckets_;
    std::vector<std::uint64_t> stamp_;
    std::uint64_t now_ = 0;
};

}  // namespace treeform::rup
