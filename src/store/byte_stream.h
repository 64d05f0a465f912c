// Little-endian numbers to bytes and back. The reader cannot be asked for more than is there.

#ifndef PENSTOCK_SRC_STORE_BYTE_STREAM_H_
#define PENSTOCK_SRC_STORE_BYTE_STREAM_H_

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace penstock::store {

static_assert(std::endian::native == std::endian::little);

class ByteWriter {
 public:
  void Reserve(std::size_t size) { bytes_.reserve(size); }
  template <std::integral T>
  void Put(T number) {
    Put(&number, sizeof(number));
  }
  void Put(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }
  void Put(std::string_view bytes) { Put(bytes.data(), bytes.size()); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// After a read that failed all that follow fail, so it is enough to ask ok() once in a while: what
// was read before is zero where there was nothing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <std::integral T>
  [[nodiscard]] T Get() {
    T number = 0;
    Get(&number, sizeof(number));
    return number;
  }
  void Get(void* data, std::size_t size) {
    const std::string_view bytes = Take(size);
    if (ok_ && size > 0) std::memcpy(data, bytes.data(), size);
  }
  // Of the underlying bytes; empty after a failure.
  [[nodiscard]] std::string_view Take(std::size_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  [[nodiscard]] bool ok() const { return ok_; }
  void Fail() { ok_ = false; }
  [[nodiscard]] std::size_t remaining() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace penstock::store

#endif  // PENSTOCK_SRC_STORE_BYTE_STREAM_H_
