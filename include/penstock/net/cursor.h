// A reader over bytes that somebody else sent: it cannot be asked for more than is there.

#ifndef PENSTOCK_NET_CURSOR_H_
#define PENSTOCK_NET_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/net/wire.h"

namespace penstock::net {

// Reads headers front to back. Every read says whether the bytes were there; a failed read moves
// nothing.
class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - offset_; }
  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] const uint8_t* position() const { return bytes_.data() + offset_; }

  // Reads a header and moves behind it.
  template <typename T>
  [[nodiscard]] bool Read(T& header) {
    if (!Peek(header)) return false;
    offset_ += sizeof(T);
    return true;
  }
  // Reads a header and stays.
  template <typename T>
  [[nodiscard]] bool Peek(T& header) const {
    if (remaining() < sizeof(T)) return false;
    header = Load<T>(position());
    return true;
  }
  [[nodiscard]] bool Skip(std::size_t size) {
    if (remaining() < size) return false;
    offset_ += size;
    return true;
  }
  // Forgets what lies more than `size` bytes ahead: padding, or bytes a length field disowns.
  [[nodiscard]] bool CutTo(std::size_t size) {
    if (remaining() < size) return false;
    bytes_ = bytes_.first(offset_ + size);
    return true;
  }

 private:
  std::span<const uint8_t> bytes_;
  std::size_t offset_ = 0;
};

}  // namespace penstock::net

#endif  // PENSTOCK_NET_CURSOR_H_
