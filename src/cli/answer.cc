#include "cli/answer.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cstdio>

#include "cli/error_text.h"
#include "penstock/config/dump.h"

namespace penstock::cli {
namespace {

std::string Quoted(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(value, &json);
  return json;
}

std::string WithoutLastNewline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string Indented(const std::string& text) {
  return absl::StrCat("  ", absl::StrReplaceAll(WithoutLastNewline(text), {{"\n", "\n  "}}), "\n");
}

// A target that failed has its error as the value, so that no target is missing.
std::string AllAsJson(const std::vector<Answer>& answers, const Options& options) {
  std::string text = "{";
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string value =
        answers[i].text.empty()
            ? absl::StrCat("{\"error\": ", Quoted(WithoutLastNewline(answers[i].notes)), "}")
            : WithoutLastNewline(answers[i].text);
    absl::StrAppend(&text, i == 0 ? "\n" : ",\n", Quoted(options.targets[i]), ": ", value);
  }
  return text + "\n}\n";
}

std::string AllAsSections(const std::vector<Answer>& answers, const Options& options) {
  const bool yaml = options.output == "yaml";
  std::string text;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::string name = yaml ? Quoted(options.targets[i]) : options.targets[i];
    const bool failed = answers[i].text.empty();
    const std::string error =
        yaml ? absl::StrCat("error: ", Quoted(WithoutLastNewline(answers[i].notes)), "\n")
             : "(failed)\n";
    absl::StrAppend(&text, name, ":\n", Indented(failed ? error : answers[i].text));
  }
  return text;
}

}  // namespace

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : "{}\n";
}

Answer Render(const google::protobuf::Message& message, const std::string& table,
              const Options& options) {
  if (options.output == "json") return {.text = ToJson(message)};
  if (options.output == "yaml") return {.text = config::ProtoToYaml(message)};
  return {.text = table};
}

Answer Failed(const grpc::Status& status, const Client& client) {
  return {.exit = ExitCodeOf(status), .text = {}, .notes = ErrorText(status, client)};
}

std::vector<Answer> AskEach(const Options& options, const std::function<Answer(Client&)>& ask) {
  std::vector<Answer> answers;
  for (const std::string& target : options.targets) {
    Client client(target, options.timeout);
    answers.push_back(ask(client));
  }
  return answers;
}

ExitCode Print(const std::vector<Answer>& answers, const Options& options) {
  ExitCode exit = kDone;
  for (const Answer& answer : answers) {
    fputs(answer.notes.c_str(), stderr);
    if (exit == kDone) exit = answer.exit;
  }
  if (answers.size() == 1) {
    fputs(answers[0].text.c_str(), stdout);
  } else if (options.output == "json") {
    fputs(AllAsJson(answers, options).c_str(), stdout);
  } else {
    fputs(AllAsSections(answers, options).c_str(), stdout);
  }
  return exit;
}

ExitCode AskAndPrint(const Options& options, const std::function<Answer(Client&)>& ask) {
  return Print(AskEach(options, ask), options);
}

}  // namespace penstock::cli
