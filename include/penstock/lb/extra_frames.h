// Frames that leave beside those that came: the fragments of a packet that is too big.

#ifndef PENSTOCK_LB_EXTRA_FRAMES_H_
#define PENSTOCK_LB_EXTRA_FRAMES_H_

#include <cstddef>
#include <cstdint>

namespace penstock::lb {

// Lends buffers for frames of our own making and sends them once the burst itself has been sent.
// Thread safety: one thread.
class ExtraFrames {
 public:
  virtual ~ExtraFrames() = default;
  // Makes sure that the next `count` calls of Add, each of at most `size` bytes, succeed. False:
  // there is no memory for them, and nothing has changed.
  [[nodiscard]] virtual bool Reserve(std::size_t count, std::size_t size) = 0;
  // A frame of `size` bytes to be sent through `port`: the bytes to fill in. REQUIRES: reserved.
  [[nodiscard]] virtual uint8_t* Add(uint8_t port, std::size_t size) = 0;
};

}  // namespace penstock::lb

#endif  // PENSTOCK_LB_EXTRA_FRAMES_H_
