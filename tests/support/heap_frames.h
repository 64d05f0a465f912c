// Extra frames kept on the heap, for tests to look at.

#ifndef PENSTOCK_TESTS_SUPPORT_HEAP_FRAMES_H_
#define PENSTOCK_TESTS_SUPPORT_HEAP_FRAMES_H_

#include <cstdint>
#include <list>
#include <vector>

#include "penstock/lb/extra_frames.h"

namespace penstock::testing {

class HeapFrames final : public lb::ExtraFrames {
 public:
  struct Frame {
    uint8_t port = 0;
    std::vector<uint8_t> bytes;
  };

  [[nodiscard]] bool Reserve(std::size_t count, std::size_t /*size*/) override {
    return frames.size() + count <= limit;
  }
  [[nodiscard]] uint8_t* Add(uint8_t port, std::size_t size) override {
    frames.push_back({port, std::vector<uint8_t>(size)});
    return frames.back().bytes.data();
  }

  std::list<Frame> frames;
  std::size_t limit = SIZE_MAX;  // frames that may be kept
};

}  // namespace penstock::testing

#endif  // PENSTOCK_TESTS_SUPPORT_HEAP_FRAMES_H_
