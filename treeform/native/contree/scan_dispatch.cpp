// Which scan runs here: decided once per run, from the processor's features and the setting `simd`.
#include <string_view>

#include "scan.hpp"

namespace treeform::contree {
namespace {

enum class Path { plain, portable, avx2, avx512 };

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"); }
bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512vl");
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif
#if defined(__GNUC__)
constexpr bool kPortable = true;
#else
constexpr bool kPortable = false;
#endif

Path path_of(std::string_view simd) {
    const bool any = simd == "auto";
    if ((any || simd == "avx512") && has_avx512()) return Path::avx512;
    if ((any || simd == "avx2") && has_avx2()) return Path::avx2;
    if ((any || simd == "portable") && kPortable) return Path::portable;
    return Path::plain;
}

}  // namespace

bool simd_available(const char* simd) {
    const std::string_view name(simd);
    return name == "auto" || name == "plain" || (name == "portable" && kPortable) || (name == "avx2" && has_avx2())
           || (name == "avx512" && has_avx512());
}

template <>
ScanTable<std::uint16_t, std::int16_t> choose_scans(const char* simd) {
    switch (path_of(simd)) {
#if defined(__x86_64__)
        case Path::avx512:
            return avx512_scans_16();
        case Path::avx2:
            return avx2_scans_16();
#endif
#if defined(__GNUC__)
        case Path::portable:
            return portable_scans_16();
#endif
        default:
            return plain_scans<std::uint16_t, std::int16_t>();
    }
}
template <>
ScanTable<std::uint32_t, std::int32_t> choose_scans(const char* simd) {
    switch (path_of(simd)) {
#if defined(__x86_64__)
        case Path::avx512:
            return avx512_scans_32();
        case Path::avx2:
            return avx2_scans_32();
#endif
#if defined(__GNUC__)
        case Path::portable:
            return portable_scans_32();
#endif
        default:
            return plain_scans<std::uint32_t, std::int32_t>();
    }
}
template <>
ScanTable<std::uint16_t, std::int32_t> choose_scans(const char* simd) {
    switch (path_of(simd)) {
#if defined(__x86_64__)
        case Path::avx512:
            return avx512_scans_16_32();
        case Path::avx2:
            return avx2_scans_16_32();
#endif
#if defined(__GNUC__)
        case Path::portable:
            return portable_scans_16_32();
#endif
        default:
            return plain_scans<std::uint16_t, std::int32_t>();
    }
}
template <>
ScanTable<std::uint32_t, std::int64_t> choose_scans(const char*) {
    return plain_scans<std::uint32_t, std::int64_t>();
}

}  // namespace treeform::contree
