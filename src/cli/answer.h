// What a command has to say about each target, and the one place where it is printed.

#ifndef PENSTOCK_CLI_ANSWER_H_
#define PENSTOCK_CLI_ANSWER_H_

#include <google/protobuf/message.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/options.h"

namespace penstock::cli {

struct Answer {
  ExitCode exit = kDone;
  // For stdout, in the form that the options ask for, ending with a newline. Empty after an error.
  std::string text;
  // For stderr: errors, or notes beside a good answer.
  std::string notes;
};

// `message` as JSON or YAML; as `table` if that is asked for.
[[nodiscard]] Answer Render(const google::protobuf::Message& message, const std::string& table,
                            const Options& options);
[[nodiscard]] Answer Failed(const grpc::Status& status, const Client& client);

// Proto JSON, with fields that have their default value.
[[nodiscard]] std::string ToJson(const google::protobuf::Message& message);

// Asks every target, one after the other.
[[nodiscard]] std::vector<Answer> AskEach(const Options& options,
                                          const std::function<Answer(Client&)>& ask);
// Prints the answers, each under its target's name when there are several, and returns the exit
// code of the first target that failed.
[[nodiscard]] ExitCode Print(const std::vector<Answer>& answers, const Options& options);
[[nodiscard]] ExitCode AskAndPrint(const Options& options,
                                   const std::function<Answer(Client&)>& ask);

}  // namespace penstock::cli

#endif  // PENSTOCK_CLI_ANSWER_H_
