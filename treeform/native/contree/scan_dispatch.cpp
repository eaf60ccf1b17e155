// Which scan runs here: decided once per run, from what the processor says and what the user asked for.
#include <cstring>

#include "scan.hpp"

namespace treeform::contree {

bool simd_available(const char* simd) { return std::strcmp(simd, "plain") == 0 || std::strcmp(simd, "auto") == 0; }

template <class Key, class Sum>
ScanTable<Key, Sum> choose_scans(const char*) {
    return plain_scans<Key, Sum>();
}
template ScanTable<std::uint16_t, std::int16_t> choose_scans(const char*);
template ScanTable<std::uint32_t, std::int32_t> choose_scans(const char*);
template ScanTable<std::uint32_t, std::int64_t> choose_scans(const char*);

}  // namespace treeform::contree
