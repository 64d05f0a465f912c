// What went wrong with a call: exit code, and what, where and what to do next.

#ifndef PENSTOCK_CLI_ERROR_TEXT_H_
#define PENSTOCK_CLI_ERROR_TEXT_H_

#include <grpcpp/grpcpp.h>

#include <string>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "penstock/config/violation.h"

namespace penstock::cli {

[[nodiscard]] ExitCode ExitCodeOf(const grpc::Status& status);

// The google.rpc.BadRequest in the details; empty if there is none.
[[nodiscard]] config::Violations ViolationsOf(const grpc::Status& status);

// One or more lines, each ending with a newline.
[[nodiscard]] std::string ErrorText(const grpc::Status& status, const Client& client);

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_ERROR_TEXT_H_
