// Exit codes of penstockctl. Scripts depend on them: docs, section "Command line".

#ifndef PENSTOCK_CLI_EXIT_CODE_H_
#define PENSTOCK_CLI_EXIT_CODE_H_

namespace penstock::cli {

enum ExitCode : int {
  kDone = 0,
  kDiffers = 1,  // digests differ, or status: degraded
  kUsage = 2,
  kRejected = 3,  // by validation or a precondition; nothing has changed
  kUnreachable = 4,
  kTimeout = 5,
  kNotPermitted = 6,
  kNotFound = 7,
};

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_EXIT_CODE_H_
