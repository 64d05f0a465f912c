// Where DPDK's own chatter goes: to our log at level debug, and never between an operator's lines.

#ifndef PENSTOCK_DPDK_EAL_LOG_H_
#define PENSTOCK_DPDK_EAL_LOG_H_

#include <absl/base/thread_annotations.h>
#include <sys/types.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <string_view>

#include "penstock/base/mutex.h"

namespace penstock::dpdk {

// A stream for rte_openlog_stream: each line becomes a debug line of our log.
// Thread safety: DPDK writes from any thread; TakeComplaint from any thread.
class EalLogStream {
 public:
  EalLogStream();
  ~EalLogStream();
  EalLogStream(const EalLogStream&) = delete;
  EalLogStream& operator=(const EalLogStream&) = delete;

  [[nodiscard]] std::FILE* file() const { return file_; }

  // While set, lines go to standard error as they are, for a StderrCapture to log in order.
  void set_raw(bool raw) { raw_.store(raw, std::memory_order_relaxed); }

  // The first line since the last call that came from a driver and not from EAL itself: what a
  // driver says about a device that it cannot open. Empty if there is none.
  [[nodiscard]] std::string TakeComplaint() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  static ssize_t Write(void* self, const char* text, std::size_t size);
  void Remember(std::string_view line) ABSL_LOCKS_EXCLUDED(mutex_);

  // Written by the thread that starts DPDK, read by every thread that logs through it.
  std::atomic<bool> raw_ = false;
  base::Mutex mutex_;
  std::string complaint_ ABSL_GUARDED_BY(mutex_);
  std::FILE* file_;
};

// While it lives, standard error goes to memory: EAL and the libraries under some drivers print
// there whatever the log stream is. For the start only, when no other thread writes.
class StderrCapture {
 public:
  explicit StderrCapture(EalLogStream& stream);
  ~StderrCapture();
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;

  // Ends the capture, logs what came at level debug, and returns it.
  std::string Finish();

 private:
  EalLogStream& stream_;
  int memory_ = -1;  // file descriptors; -1: not capturing
  int saved_ = -1;
};

}  // namespace penstock::dpdk

#endif  // PENSTOCK_DPDK_EAL_LOG_H_
