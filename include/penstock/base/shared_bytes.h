// Plain values that one thread writes and others read meanwhile: copied in words, each whole.

#ifndef PENSTOCK_BASE_SHARED_BYTES_H_
#define PENSTOCK_BASE_SHARED_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace penstock::base {

// Writes `value` word by word with release order, so that a reader that meets one of the words with
// LoadWords also sees what was written before it. The value as a whole may be seen half written:
// a version beside it has to tell. On x86-64 these are plain moves.
template <typename T>
void StoreWords(T& to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  if constexpr (std::is_integral_v<T>) {
    __atomic_store_n(&to, value, __ATOMIC_RELEASE);
  } else if constexpr (alignof(T) >= 4 && sizeof(T) % 4 == 0) {
    using Word [[gnu::may_alias]] = uint32_t;
    auto* words = reinterpret_cast<Word*>(&to);
    const auto* from = reinterpret_cast<const Word*>(&value);
    for (std::size_t i = 0; i < sizeof(T) / 4; ++i) {
      __atomic_store_n(&words[i], from[i], __ATOMIC_RELEASE);
    }
  } else {
    auto* bytes = reinterpret_cast<uint8_t*>(&to);
    const auto* from = reinterpret_cast<const uint8_t*>(&value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      __atomic_store_n(&bytes[i], from[i], __ATOMIC_RELEASE);
    }
  }
}

// Reads what another thread writes with StoreWords.
template <typename T>
[[nodiscard]] T LoadWords(const T& from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  if constexpr (std::is_integral_v<T>) {
    value = __atomic_load_n(&from, __ATOMIC_ACQUIRE);
  } else if constexpr (alignof(T) >= 4 && sizeof(T) % 4 == 0) {
    using Word [[gnu::may_alias]] = uint32_t;
    auto* to = reinterpret_cast<Word*>(&value);
    const auto* words = reinterpret_cast<const Word*>(&from);
    for (std::size_t i = 0; i < sizeof(T) / 4; ++i) {
      to[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
    }
  } else {
    auto* to = reinterpret_cast<uint8_t*>(&value);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&from);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      to[i] = __atomic_load_n(&bytes[i], __ATOMIC_ACQUIRE);
    }
  }
  return value;
}

}  // namespace penstock::base

#endif  // PENSTOCK_BASE_SHARED_BYTES_H_
