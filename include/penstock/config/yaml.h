// YAML into any protobuf message, driven by the message's own description.

#ifndef PENSTOCK_CONFIG_YAML_H_
#define PENSTOCK_CONFIG_YAML_H_

#include <cstddef>
#include <string_view>

#include "penstock/config/source_map.h"
#include "penstock/config/violation.h"

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace penstock::config {

// 5,000 services and 100,000 backends with names and labels are 9 MB and 1.5 million values and
// keys. Each of these takes about 150 bytes while it is read, so the limits bound the memory too.
inline constexpr std::size_t kMaxYamlBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxYamlNodes = 4'000'000;
// Nested lists and maps; the schema needs 8.
inline constexpr int kMaxYamlDepth = 32;
// A text with more is something else than a configuration; the others are not reported.
inline constexpr std::size_t kMaxYamlMistakes = 10'000;

// Reads `text` into `message`. Keys are field names; enumerations are lower case without their
// prefix; google.protobuf.Duration is "1h30m", "500ms"; penstock.v1.PortRange is 443 or
// "8000-8010". Returns every mistake: unknown and duplicate keys, wrong types, values out of range,
// keys of parts not built yet. Whatever is right is filled in nevertheless, so that later checks
// can add theirs. A syntax error is one violation with an empty path.
//
// Any bytes are safe. Refused: anchors, aliases, tags, null values, several documents, an empty
// text, text that is not UTF-8, more than kMaxYamlBytes or kMaxYamlNodes, deeper than
// kMaxYamlDepth.
//
// Afterwards `source` knows the positions; it formats violations under `file_name`.
[[nodiscard]] Violations YamlToProto(std::string_view text, std::string_view file_name,
                                     google::protobuf::Message& message, SourceMap& source);

}  // namespace penstock::config

#endif  // PENSTOCK_CONFIG_YAML_H_
