#include "penstock/config/load.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>

#include "config/text.h"
#include "penstock/config/convert.h"
#include "penstock/config/validate.h"
#include "penstock/config/yaml.h"

namespace penstock::config {
namespace {

std::string LastError() {
  return std::error_code(errno, std::generic_category()).message();
}

// Works for pipes and /dev/stdin also. Stops one byte above the limit, which the parser then
// refuses.
std::optional<std::string> ReadFile(const std::string& path, std::string& error) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (!file) {
    error = LastError();
    return std::nullopt;
  }
  constexpr std::size_t kChunk = 65536;
  std::string text;
  std::size_t size = 0;
  do {
    text.resize(size + kChunk);
    size += std::fread(text.data() + size, 1, kChunk, file.get());
  } while (size == text.size() && size <= kMaxYamlBytes);
  if (std::ferror(file.get()) != 0) {
    error = LastError();
    return std::nullopt;
  }
  text.resize(size);
  return text;
}

template <typename Message, typename T>
Violations Parse(std::string_view text, std::string_view file_name, Loaded<T>& loaded) {
  Message message;
  Violations violations = YamlToProto(text, file_name, message, loaded.source);
  AppendUnlessCovered(violations, FromProto(message, loaded.value));
  AppendUnlessCovered(violations, Validate(loaded.value));
  return violations;
}

template <typename T>
Loaded<T> Load(const std::string& path, Loaded<T> (*parse)(std::string_view, std::string_view)) {
  std::string error;
  const std::optional<std::string> text = ReadFile(path, error);
  if (text) return parse(*text, path);
  Loaded<T> loaded;
  loaded.errors.push_back(Concat(Printable(path), ": cannot be read: ", error));
  return loaded;
}

}  // namespace

Loaded<HostConfig> ParseHostConfig(std::string_view text, std::string_view file_name) {
  Loaded<HostConfig> loaded;
  const Violations violations = Parse<v1::HostConfig>(text, file_name, loaded);
  loaded.errors = loaded.source.Format(violations);
  return loaded;
}

Loaded<ServicesConfig> ParseServicesConfig(std::string_view text, std::string_view file_name) {
  Loaded<ServicesConfig> loaded;
  Violations violations = Parse<v1::Config>(text, file_name, loaded);
  for (const std::string key : {"pools", "services"}) {
    if (loaded.source.Contains(key)) continue;
    AppendUnlessCovered(violations,
                        {{key, Concat("is missing; write \"", key, ": []\" for none")}});
  }
  loaded.errors = loaded.source.Format(violations);
  return loaded;
}

Loaded<HostConfig> LoadHostConfig(const std::string& path) {
  return Load(path, &ParseHostConfig);
}

Loaded<ServicesConfig> LoadServicesConfig(const std::string& path) {
  return Load(path, &ParseServicesConfig);
}

}  // namespace penstock::config
