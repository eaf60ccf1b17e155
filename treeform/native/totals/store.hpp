#pragma once
// Known bounds of subproblems, shared by all threads: a hash table in parts, each behind a lock of its own.
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "subset.hpp"

namespace treeform::totals {

template <class Value>
class Store {
public:
    std::optional<Value> find(const Key& key) const {
        const Part& part = part_of(key);
        const std::lock_guard lock(part.mutex);
        const auto found = part.values.find(key);
        return found == part.values.end() ? std::nullopt : std::optional<Value>(found->second);
    }
    /// Keeps the better of what is there and `value`, as `better(value, there)` says.
    template <class Better>
    void put(const Key& key, Value value, Better better) {
        Part& part = const_cast<Part&>(part_of(key));
        const std::lock_guard lock(part.mutex);
        const auto [there, fresh] = part.values.try_emplace(key, value);
        if (fresh)
            size_.fetch_add(1, std::memory_order_relaxed);
        else if (better(value, there->second))
            there->second = std::move(value);
    }
    void clear() {
        for (Part& part : parts_) part.values.clear();
        size_ = 0;
    }
    std::size_t size() const { return size_.load(std::memory_order_relaxed); }

private:
    struct Part {
        mutable std::mutex mutex;
        std::unordered_map<Key, Value, KeyHash> values;
    };
    static constexpr std::size_t kParts = 64;
    const Part& part_of(const Key& key) const { return parts_[(KeyHash()(key) >> 7) % kParts]; }
    std::array<Part, kParts> parts_;
    std::atomic<std::size_t> size_{0};
};

}  // namespace treeform::totals
