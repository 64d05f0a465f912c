#include "daemon/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <iostream>
#include <memory>

namespace penstock::daemon {
namespace {

spdlog::level::level_enum LevelOf(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::kTrace:
      return spdlog::level::trace;
    case config::LogLevel::kDebug:
      return spdlog::level::debug;
    case config::LogLevel::kInfo:
      return spdlog::level::info;
    case config::LogLevel::kWarn:
      return spdlog::level::warn;
    case config::LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void SetUpLog(const config::LogConfig& config) {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "penstockd", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  spdlog::set_level(LevelOf(config.level));
}

void PrintLines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::cerr << line << "\n";
}

}  // namespace penstock::daemon
