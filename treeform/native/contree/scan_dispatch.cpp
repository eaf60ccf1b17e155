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

#if defined(__x86_64__)
#define TREEFORM_ON_X86(scans) scans
#else
#define TREEFORM_ON_X86(scans) nullptr
#endif
#if defined(__GNUC__)
#define TREEFORM_ON_VECTORS(scans) scans
#else
#define TREEFORM_ON_VECTORS(scans) nullptr
#endif

/// The scans of the instruction set that is chosen; those that were not compiled are never chosen.
template <class Key, class Sum, class Make = ScanTable<Key, Sum> (*)()>
ScanTable<Key, Sum> chosen(const char* simd, Make avx512, Make avx2, Make portable) {
    const Path path = path_of(simd);
    const Make make = path == Path::avx512 ? avx512 : path == Path::avx2 ? avx2 : portable;
    return path == Path::plain ? plain_scans<Key, Sum>() : make();
}

}  // namespace

bool simd_available(const char* simd) {
    const std::string_view name(simd);
    return name == "auto" || name == "plain" || (name == "portable" && kPortable) || (name == "avx2" && has_avx2())
           || (name == "avx512" && has_avx512());
}

template <>
ScanTable<std::uint16_t, std::int16_t> choose_scans(const char* simd) {
    return chosen<std::uint16_t, std::int16_t>(simd, TREEFORM_ON_X86(avx512_scans_16),
                                                 TREEFORM_ON_X86(avx2_scans_16),
                                                 TREEFORM_ON_VECTORS(portable_scans_16));
}
template <>
ScanTable<std::uint32_t, std::int32_t> choose_scans(const char* simd) {
    return chosen<std::uint32_t, std::int32_t>(simd, TREEFORM_ON_X86(avx512_scans_32),
                                                 TREEFORM_ON_X86(avx2_scans_32),
                                                 TREEFORM_ON_VECTORS(portable_scans_32));
}
template <>
ScanTable<std::uint16_t, std::int32_t> choose_scans(const char* simd) {
    return chosen<std::uint16_t, std::int32_t>(simd, TREEFORM_ON_X86(avx512_scans_16_32),
                                                 TREEFORM_ON_X86(avx2_scans_16_32),
                                                 TREEFORM_ON_VECTORS(portable_scans_16_32));
}
template <>
ScanTable<std::uint32_t, std::int64_t> choose_scans(const char*) {
    return plain_scans<std::uint32_t, std::int64_t>();
}

}  // namespace treeform::contree
