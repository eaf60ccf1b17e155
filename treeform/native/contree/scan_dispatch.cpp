// Which scan runs here: decided once per run, from the processor's features and the setting `simd`.
#include <string_view>

#include "scan.hpp"

namespace treeform::contree {
namespace {

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
           && __builtin_cpu_supports("avx512vl");
}
#else
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif

enum class Path { plain, avx2, avx512 };

Path path_of(std::string_view simd) {
    if ((simd == "auto" || simd == "avx512") && has_avx512()) return Path::avx512;
    if ((simd == "auto" || simd == "avx2") && has_avx2()) return Path::avx2;
    return Path::plain;
}

}  // namespace

bool simd_available(const char* simd) {
    const std::string_view name(simd);
    return name == "auto" || name == "plain" || (name == "avx2" && has_avx2()) || (name == "avx512" && has_avx512());
}

#if defined(__x86_64__)
template <>
ScanTable<std::uint16_t, std::int16_t> choose_scans(const char* simd) {
    const Path path = path_of(simd);
    if (path == Path::plain) return plain_scans<std::uint16_t, std::int16_t>();
    return path == Path::avx2 ? avx2_scans_16() : avx512_scans_16();
}
template <>
ScanTable<std::uint32_t, std::int32_t> choose_scans(const char* simd) {
    const Path path = path_of(simd);
    if (path == Path::plain) return plain_scans<std::uint32_t, std::int32_t>();
    return path == Path::avx2 ? avx2_scans_32() : avx512_scans_32();
}
template <>
ScanTable<std::uint16_t, std::int32_t> choose_scans(const char* simd) {
    const Path path = path_of(simd);
    if (path == Path::plain) return plain_scans<std::uint16_t, std::int32_t>();
    return path == Path::avx2 ? avx2_scans_16_32() : avx512_scans_16_32();
}
#else
template <>
ScanTable<std::uint16_t, std::int16_t> choose_scans(const char*) {
    return plain_scans<std::uint16_t, std::int16_t>();
}
template <>
ScanTable<std::uint32_t, std::int32_t> choose_scans(const char*) {
    return plain_scans<std::uint32_t, std::int32_t>();
}
template <>
ScanTable<std::uint16_t, std::int32_t> choose_scans(const char*) {
    return plain_scans<std::uint16_t, std::int32_t>();
}
#endif
template <>
ScanTable<std::uint32_t, std::int64_t> choose_scans(const char*) {
    return plain_scans<std::uint32_t, std::int64_t>();
}

}  // namespace treeform::contree
