// A history that lives as long as the test.

#ifndef PENSTOCK_TESTS_CONTROL_MEMORY_HISTORY_H_
#define PENSTOCK_TESTS_CONTROL_MEMORY_HISTORY_H_

#include <algorithm>
#include <vector>

#include "penstock/control/history.h"

namespace penstock::control {

class MemoryHistory : public History {
 public:
  absl::Status Append(const Generation& generation) override {
    if (!append_status.ok()) return append_status;
    generations.push_back(generation);
    return absl::OkStatus();
  }
  absl::Status Acknowledge(uint64_t number) override {
    ++acknowledge_calls;
    if (!acknowledge_status.ok()) return acknowledge_status;
    const auto found = Find(number);
    if (found == generations.end()) return absl::NotFoundError("no such generation");
    generations[static_cast<std::size_t>(found - generations.begin())].info.acknowledged = true;
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<GenerationInfo>> List() const override {
    std::vector<GenerationInfo> infos;
    for (auto g = generations.rbegin(); g != generations.rend(); ++g) infos.push_back(g->info);
    return infos;
  }
  absl::StatusOr<Generation> Get(uint64_t number) const override {
    ++get_calls;
    const auto found = Find(number);
    if (found == generations.end() || number == unreadable) {
      return absl::NotFoundError("no such generation");
    }
    return *found;
  }

  std::vector<Generation> generations;  // oldest first
  absl::Status append_status;
  absl::Status acknowledge_status;
  uint64_t unreadable = 0;
  int acknowledge_calls = 0;
  mutable int get_calls = 0;

 private:
  std::vector<Generation>::const_iterator Find(uint64_t number) const {
    return std::ranges::find_if(generations,
                                [number](const Generation& g) { return g.info.number == number; });
  }
};

}  // namespace penstock::control

#endif  // PENSTOCK_TESTS_CONTROL_MEMORY_HISTORY_H_
