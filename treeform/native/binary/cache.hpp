#pragma once
// Known bounds of subproblems met before, keyed by their rows (not by the tests that led there), the depth and
// the tests left. Bounded: it doubles up to its limit, then replaces the shallowest and oldest entry of a bucket.
// An equal hash does not suffice: the entry's path is followed to compare the rows, so a collision does no harm.
#include <array>
#include <vector>

#include "plan.hpp"
#include "row_sets.hpp"
#include "rules.hpp"

namespace treeform::binary {

struct Entry {
    static constexpr int kPath = 12;
    std::uint64_t hash = 0;
    Cost lower = 0, upper = kNever;   // proved; of `plan`
    Cost within = 0;                  // the bound under which the tree was last searched with `slack`
    PlanPtr plan;
    Slack slack{};                    // how far the rules let that search go
    std::array<std::uint32_t, kPath> path{};
    std::int32_t tests = 0;
    std::uint32_t stamp = 0;
    std::uint8_t depth = 0, length = 0;  // depth 0: free
};

class Cache {
public:
    /// `bytes`: this worker's part of the limit.
    Cache(const RowSets& row_sets, std::size_t bytes, int workers, bool enabled, Counters& counters)
        : row_sets_(row_sets), counters_(counters), enabled_(enabled), workers_(workers) {
        bytes_ = std::int64_t(bytes);
        std::size_t size = 256;
        while (size * sizeof(Entry) > bytes) size /= 2;
        table_.resize(std::max<std::size_t>(size, kWays));
    }

    Entry* find(const std::vector<std::uint64_t>& cover, std::uint64_t hash, int depth, std::int64_t tests) {
        if (!enabled_) return nullptr;
        const std::uint64_t key = mix(hash, depth, tests);
        Entry* bucket = at(key);
        for (int i = 0; i < kWays; ++i) {
            Entry& e = bucket[i];
            if (e.depth == depth && e.hash == key && e.tests == tests
                && row_sets_.leads_to(e.path.data(), e.length, cover)) {
                ++counters_.cache_hits;
                e.stamp = ++clock_;
                return &e;
            }
        }
        return nullptr;
    }

    /// The entry of this subproblem, made if need be; null when it cannot be kept.
    Entry* entry_for(const Node& node, int depth, std::int64_t tests) {
        if (!enabled_ || node.path.size() > Entry::kPath) return nullptr;
        if (Entry* e = find(node.cover, node.hash, depth, tests)) return --counters_.cache_hits, e;
        const std::uint64_t key = mix(node.hash, depth, tests);
        Entry* slot = free_slot(key);
        if (!slot && bytes_elsewhere() + table_bytes() * 3 <= bytes_) {  // old and new exist side by side for a moment
            grow();
            slot = free_slot(key);
        }
        if (!slot) {
            slot = at(key);
            for (Entry* e = slot; e != at(key) + kWays; ++e)
                if (e->depth < slot->depth || (e->depth == slot->depth && e->stamp < slot->stamp)) slot = e;
            ++counters_.cache_evictions;
        }
        *slot = Entry{};
        slot->hash = key, slot->depth = std::uint8_t(depth), slot->tests = std::int32_t(tests), slot->stamp = ++clock_;
        slot->length = std::uint8_t(node.path.size());
        std::copy(node.path.begin(), node.path.end(), slot->path.begin());
        ++counters_.cache_stores;
        return slot;
    }

    /// Gives all memory back; nothing may be looked up after that.
    void release() { std::vector<Entry>().swap(table_); }

    /// Whether a tree may be kept too. When not, the bounds are, and the tree is found again when it is needed.
    bool room() const { return bytes_elsewhere() + table_bytes() <= bytes_; }

private:
    static constexpr int kWays = 4;
    std::int64_t table_bytes() const { return std::int64_t(table_.size() * sizeof(Entry)); }
    /// Rows, pair tables, scratch and trees: what the limit covers beside this table.
    std::int64_t bytes_elsewhere() const {
        return (Buffer::live.load(std::memory_order_relaxed)
                + Plan::live.load(std::memory_order_relaxed) * Plan::kBytes)
               / workers_;
    }
    static std::uint64_t mix(std::uint64_t hash, int depth, std::int64_t tests) {
        hash = (hash ^ (std::uint64_t(depth) << 40 ^ std::uint64_t(tests))) * 0xbf58476d1ce4e5b9ull;
        return hash ^ hash >> 31;
    }
    Entry* at(std::uint64_t key) { return table_.data() + (key & (table_.size() / kWays - 1)) * kWays; }
    Entry* free_slot(std::uint64_t key) {
        Entry* bucket = at(key);
        for (int i = 0; i < kWays; ++i)
            if (bucket[i].depth == 0) return bucket + i;
        return nullptr;
    }
    void grow() {
        std::vector<Entry> old(table_.size() * 2);
        old.swap(table_);
        for (Entry& e : old)
            if (e.depth)
                if (Entry* slot = free_slot(e.hash)) *slot = std::move(e);
    }

    const RowSets& row_sets_;
    Counters& counters_;
    bool enabled_;
    std::int64_t bytes_ = 0, workers_ = 1;
    std::uint32_t clock_ = 0;
    std::vector<Entry> table_;
};

}  // namespace treeform::binary
