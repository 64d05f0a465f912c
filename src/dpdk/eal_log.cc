#include "dpdk/eal_log.h"

#include <spdlog/spdlog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace penstock::dpdk {
namespace {

void LogLines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) spdlog::debug("dpdk: {}", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

EalLogStream::EalLogStream() {
  cookie_io_functions_t functions{};
  functions.write = Write;
  file_ = fopencookie(this, "w", functions);
  if (file_ != nullptr) std::setvbuf(file_, nullptr, _IOLBF, BUFSIZ);
}

ssize_t EalLogStream::Write(void* self, const char* text, std::size_t size) {
  auto* stream = static_cast<EalLogStream*>(self);
  stream->Remember({text, size});
  if (!stream->raw_.load(std::memory_order_relaxed)) {
    LogLines({text, size});
  } else if (write(STDERR_FILENO, text, size) < 0) {
    return 0;
  }
  return static_cast<ssize_t>(size);
}

void EalLogStream::Remember(std::string_view line) {
  if (line.starts_with("EAL: ")) return;
  const base::MutexLock lock(mutex_);
  if (complaint_.empty()) complaint_ = line.substr(0, line.find('\n'));
}

std::string EalLogStream::TakeComplaint() {
  const base::MutexLock lock(mutex_);
  return std::exchange(complaint_, {});
}

EalLogStream::~EalLogStream() {
  if (file_ != nullptr) std::fclose(file_);
}

StderrCapture::StderrCapture(EalLogStream& stream)
    : stream_(stream),
      memory_(memfd_create("penstockd-stderr", MFD_CLOEXEC)),
      saved_(dup(STDERR_FILENO)) {
  if (memory_ < 0 || saved_ < 0) return;  // nothing is hidden then, and nothing lost
  std::fflush(stderr);
  dup2(memory_, STDERR_FILENO);
  stream_.set_raw(true);
}

StderrCapture::~StderrCapture() {
  Finish();
}

std::string StderrCapture::Finish() {
  stream_.set_raw(false);
  if (memory_ < 0 || saved_ < 0) return {};
  std::fflush(stderr);
  dup2(saved_, STDERR_FILENO);
  close(saved_);
  saved_ = -1;
  std::string text;
  std::array<char, 4096> chunk;
  ssize_t got = 0;
  while ((got = pread(memory_, chunk.data(), chunk.size(), static_cast<off_t>(text.size()))) > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  close(memory_);
  memory_ = -1;
  LogLines(text);
  return text;
}

}  // namespace penstock::dpdk
