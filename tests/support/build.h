// build.h - what slows this build of the tests, so that they may do a part of their work or wait longer.
#pragma once

namespace nyb::test {

#if defined(__has_feature)  // clang
#define NYB_HAS_FEATURE(x) __has_feature(x)
#else
#define NYB_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || NYB_HAS_FEATURE(address_sanitizer) || \
    NYB_HAS_FEATURE(thread_sanitizer) || NYB_HAS_FEATURE(memory_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#if defined(__OPTIMIZE__)
inline constexpr bool kSlowBuild = kSanitized;
#else
inline constexpr bool kSlowBuild = true;
#endif
#undef NYB_HAS_FEATURE

// What every limit of time is multiplied by (tests/CMakeLists.txt): sanitizers make a program some ten times slower.
inline constexpr int kPatience = NYB_PATIENCE;

}  // namespace nyb::test
