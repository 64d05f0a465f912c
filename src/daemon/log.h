// The daemon's log: lines on standard error.

#ifndef PENSTOCK_DAEMON_LOG_H_
#define PENSTOCK_DAEMON_LOG_H_

#include <string>
#include <vector>

#include "penstock/config/host_config.h"

namespace penstock::daemon {

// Before it, nothing is logged but by plain print.
void SetUpLog(const config::LogConfig& config);

// One line each on standard error, before there is a log.
void PrintLines(const std::vector<std::string>& lines);

}  // namespace penstock::daemon

#endif  // PENSTOCK_DAEMON_LOG_H_
