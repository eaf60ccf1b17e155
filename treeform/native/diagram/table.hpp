#pragma once
// Bounds of sets of points: a map from a key of fixed length (a set and a number) to a lower bound. Keys are compared
// in full, not by hash alone. The table grows to half of its memory; then an empty one begins and the old one is kept
// for look-ups until the new one is full too. Dropped entries cost time, never exactness.
#include <cstring>
#include <vector>

#include "instance.hpp"

namespace treeform::diagram {

struct Known {
    Cost lower = 0;             // proved
    std::int64_t tried = 0;     // with that much work; kWhole: `lower` is exact
    static constexpr std::int64_t kWhole = -1;
};

class Table {
public:
    Table(int key_words, std::size_t memory, std::uint64_t& evictions) : words_(key_words), evictions_(evictions) {
        most_ = std::max<std::size_t>(
            64, memory / 2 / (key_words * sizeof(Word) + sizeof(Known) + sizeof(std::uint64_t) * 2));
        now_.reset(64);
    }

    /// The entry of (set, number), or null. Valid until the next call of `put`.
    Known* find(const Word* set, Word number) {
        const auto hash = hash_of(set, words_ - 1, number);
        if (Known* one = now_.find(*this, hash, set, number)) return one;
        Known* old = old_.find(*this, hash, set, number);
        return old ? &put(set, number, *old) : nullptr;
    }

    Known& put(const Word* set, Word number, Known what) {
        const auto hash = hash_of(set, words_ - 1, number);
        if (Known* one = now_.find(*this, hash, set, number)) return *one = what;
        if (now_.values.size() >= most_) {
            std::swap(now_, old_);
            now_.reset(64);
            ++evictions_;
        } else if (now_.values.size() * 2 >= now_.slot.size()) {
            now_.grow();
        }
        return now_.add(*this, hash, set, number, what);
    }

private:
    struct Half {
        std::vector<std::uint64_t> slot;  // 0: free, else half of the hash, and entry + 1: a key is read where they agree
        std::vector<Word> keys;
        std::vector<Known> values;

        void reset(std::size_t size) { slot.assign(size, 0), keys.clear(), values.clear(); }
        Known* find(const Table& t, std::uint64_t hash, const Word* set, Word number) {
            if (slot.empty()) return nullptr;
            for (std::size_t i = hash & (slot.size() - 1);; i = (i + 1) & (slot.size() - 1)) {
                const std::uint64_t one = slot[i];
                if (one == 0) return nullptr;
                if (std::uint32_t(one >> 32) != std::uint32_t(hash)) continue;
                const std::size_t e = std::uint32_t(one) - std::size_t{1};
                __builtin_prefetch(&values[e]);
                const Word* key = keys.data() + e * t.words_;
                if (key[t.words_ - 1] == number && !std::memcmp(key, set, (t.words_ - 1) * sizeof(Word)))
                    return &values[e];
            }
        }
        Known& add(const Table& t, std::uint64_t hash, const Word* set, Word number, Known what) {
            keys.insert(keys.end(), set, set + t.words_ - 1);
            keys.push_back(number);
            values.push_back(what);
            place(hash << 32 | values.size());
            return values.back();
        }
        void place(std::uint64_t one) {
            std::size_t i = (one >> 32) & (slot.size() - 1);
            while (slot[i]) i = (i + 1) & (slot.size() - 1);
            slot[i] = one;
        }
        void grow() {
            const std::vector<std::uint64_t> before = std::move(slot);
            slot.assign(before.size() * 2, 0);
            for (const std::uint64_t one : before)
                if (one) place(one);
        }
    };
    int words_;
    std::size_t most_;
    std::uint64_t& evictions_;
    Half now_, old_;
};

}  // namespace treeform::diagram
