// Answers of the daemon as tables.

#ifndef PENSTOCK_CLI_GET_TABLES_H_
#define PENSTOCK_CLI_GET_TABLES_H_

#include <set>
#include <string>

#include "penstock/v1/status_service.pb.h"

namespace penstock::cli {

[[nodiscard]] std::string ServiceTable(const v1::ListServicesResponse& response);
// Pools in `differing` are marked: their digest is another one on another target.
[[nodiscard]] std::string PoolTable(const v1::ListPoolsResponse& response,
                                    const std::set<std::string>& differing);
[[nodiscard]] std::string BackendTable(const v1::ListBackendsResponse& response);
[[nodiscard]] std::string PortTable(const v1::GetStatusResponse& response);
[[nodiscard]] std::string WorkerTable(const v1::GetStatusResponse& response);
// What each worker did with the packets of each port.
[[nodiscard]] std::string WorkerPortTable(const v1::GetStatusResponse& response);

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_GET_TABLES_H_
