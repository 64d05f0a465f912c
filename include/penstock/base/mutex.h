// std::mutex with clang's thread-safety annotations, so that a forgotten lock does not compile.
//
// Not absl::Mutex: Debian's Abseil is built without thread-sanitizer instrumentation, under which
// its mutex reports races that are not there.

#ifndef PENSTOCK_BASE_MUTEX_H_
#define PENSTOCK_BASE_MUTEX_H_

#include <absl/base/thread_annotations.h>

#include <condition_variable>
#include <mutex>

namespace penstock::base {

class ABSL_LOCKABLE Mutex {
 public:
  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mutex_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Waits with a Mutex held: `condition.wait_for(mutex, ...)` inside a MutexLock's scope.
using CondVar = std::condition_variable_any;

}  // namespace penstock::base

#endif  // PENSTOCK_BASE_MUTEX_H_
