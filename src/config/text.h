// Text from outside, made safe to show and to write, and compared with the names that we know.

#ifndef PENSTOCK_SRC_CONFIG_TEXT_H_
#define PENSTOCK_SRC_CONFIG_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace penstock::config {

// Adds texts and numbers to the end of `out`. (Debian's Abseil has a string_view of its own, so its
// StrCat does not take the standard one.)
template <typename... Parts>
void ConcatTo(std::string& out, const Parts&... parts) {
  const auto append = [&out](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
      out += std::to_string(part);
    } else {
      out += part;
    }
  };
  (append(parts), ...);
}

template <typename... Parts>
[[nodiscard]] std::string Concat(const Parts&... parts) {
  std::string out;
  ConcatTo(out, parts...);
  return out;
}

// Takes the first character off `rest` and returns its code point; nullopt, and nothing taken, when
// the bytes are not UTF-8 (RFC 3629: no surrogates, no overlong forms) or there are none.
[[nodiscard]] std::optional<uint32_t> TakeUtf8(std::string_view& rest);

// C0 and C1 controls, DEL, and the invisible separators that reorder or break lines.
[[nodiscard]] bool IsUnprintable(uint32_t code_point);

// A YAML double-quoted scalar that reads back as `text`. Unprintable characters become escapes;
// bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string Quote(std::string_view text);

// Quote for messages: long texts are cut and end in "...".
[[nodiscard]] std::string QuoteShort(std::string_view text);

// `text` without quotes, with the same escapes, for a terminal or a log.
[[nodiscard]] std::string Printable(std::string_view text);

// The entry of `names` that `text` most likely meant; nullopt when none is near.
[[nodiscard]] std::optional<std::string> Nearest(std::string_view text,
                                                 const std::vector<std::string>& names);

}  // namespace penstock::config

#endif  // PENSTOCK_SRC_CONFIG_TEXT_H_
