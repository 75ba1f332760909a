#pragma once

// Reading a reply of the server (protobuf's JSON mapping) and showing what it holds.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>
#include <nlohmann/json.hpp>

#include "client/cli/human.h"
#include "client/cli/options.h"
#include "storage/base/clock.h"

namespace skep::cli {

using Json = nlohmann::ordered_json;

// Errors: kInternal for text that is no JSON object.
absl::StatusOr<Json> ParseReply(const std::string& text);

// Fields that are absent or of another type are empty, 0, false, an empty list or object: a reply
// of an older server lacks what it did not know.
std::string Text(const Json& object, std::string_view field);
int64_t Number(const Json& object, std::string_view field);  // int64 travels as text
bool Flag(const Json& object, std::string_view field);
const Json& Object(const Json& object, std::string_view field);
const Json& List(const Json& object, std::string_view field);
std::optional<Timestamp> Time(const Json& object, std::string_view field);
std::optional<std::chrono::milliseconds> Span(const Json& object, std::string_view field);

// "LOCK_KIND_SHARED_READ" without "LOCK_KIND_"; empty for UNSPECIFIED.
std::string Enum(const Json& object, std::string_view field, std::string_view prefix);
// {"database","table"} → "db.t"; empty if unset.
std::string TableOf(const Json& name);
// {"database","table","partition"} → "db.t/p=1".
std::string ResourceOf(const Json& resource);
// Texts of a list: "17, 18".
std::string JoinedTexts(const Json& list, std::string_view separator = ", ");
// "17", or empty for 0.
std::string IdOrNothing(int64_t id);

// How the cells of one listing show times: ages in a table, full times with -o wide, RFC 3339 for
// programs. And sizes.
class TimeCells {
 public:
  TimeCells(Output output, Zone zone, Timestamp now) : output_(output), zone_(zone), now_(now) {}
  std::string Show(const Json& object, std::string_view field) const;
  // A time to come: "in 29s" in a table.
  std::string ShowDue(const Json& object, std::string_view field) const;
  // "1.5 KB" for people, bytes for programs.
  std::string ShowBytes(int64_t bytes) const;

 private:
  std::string Full(Timestamp time) const;
  bool for_programs() const { return output_ == Output::kCsv || output_ == Output::kTsv; }

  Output output_;
  Zone zone_;
  Timestamp now_;
};

}  // namespace skep::cli
