// Whether this is a build with sanitizers. They take memory of their own, so what the program needs cannot be measured
// under them; and up to 15 times as long, so what is large or repeated there only to be measured is less.
#pragma once

namespace minnow::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace minnow::test
