#pragma once
// What has been found for sets of rows, by a hash of 64 bits of each set and a number. Two generations bound the memory:
// when the younger one is full it becomes the older one, and what was the older one is dropped; what is asked for again
// moves to the younger one.
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace treeform::deep {

struct Key {
    std::uint64_t rows = 0;
    std::uint64_t what = 0;
    bool operator==(const Key&) const = default;
};
struct HashOfKey {
    std::size_t operator()(const Key& key) const {
        return static_cast<std::size_t>(key.rows ^ (key.what * 0x9E3779B97F4A7C15ull));
    }
};

template <class T>
class Kept {
public:
    explicit Kept(std::size_t most) : most_(most) {}

    /// Null if nothing is kept.
    T* find(const Key& key) {
        if (const auto it = young_.find(key); it != young_.end()) return &it->second;
        const auto it = old_.find(key);
        if (it == old_.end()) return nullptr;
        T moved = std::move(it->second);
        old_.erase(it);
        return &(at(key) = std::move(moved));
    }
    /// The entry of the key, made if it is not there. It stays until the next call.
    T& at(const Key& key) {
        if (const auto it = young_.find(key); it != young_.end()) return it->second;
        if (young_.size() >= most_) old_ = std::exchange(young_, {});
        return young_[key];
    }
    void clear() { young_.clear(), old_.clear(); }

private:
    std::size_t most_;
    std::unordered_map<Key, T, HashOfKey> young_, old_;
};

}  // namespace treeform::deep
