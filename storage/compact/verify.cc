#include "storage/compact/verify.h"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "storage/acid/names.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"
#include "storage/table/sources.h"

namespace skep::compact {

namespace {

absl::Status Wrong(const std::string& path, std::string_view what) {
  return MakeError(ErrorReason::kInternal,
                   fmt::format("the compaction's output {} {}; it is thrown away, the inputs stay",
                               Printable(path),
                               what),
                   {{"path", path}});
}

}  // namespace

absl::Status VerifyOutput(fs::FileSystem& fs,
                          const std::string& output_dir,
                          int32_t bucket,
                          EventKind kind,
                          int64_t expected,
                          const std::function<absl::Status(int64_t)>& after_batch) {
  const std::string path = fs::JoinPath(output_dir, acid::BucketFileName(bucket));
  if (expected == 0) {
    const absl::Status absent = fs.Stat(path).status();
    return absent.code() == absl::StatusCode::kNotFound ? absl::OkStatus()
                                                        : Wrong(path, "should not be there");
  }
  SKEP_ASSIGN_OR_RETURN(const std::optional<acid::AcidDirName> dir,
                        acid::ParseDirName(fs::BaseName(output_dir)));
  const table::SourceFile file{.path = path, .dir = dir, .bucket = bucket};
  // OpenSource checks order, bucket and operation of every event.
  auto reader = table::OpenSource(fs,
                                  file,
                                  {.logical_length = std::nullopt, .calendar = std::nullopt},
                                  {.columns = std::vector<std::string>(), .stripes = std::nullopt});
  if (!reader.ok()) return Wrong(path, "cannot be read: " + MessageOf(reader.status()));
  int64_t events = 0;
  while (true) {
    auto batch = (*reader)->Next();
    if (!batch.ok()) return Wrong(path, "cannot be read: " + MessageOf(batch.status()));
    if (*batch == nullptr) break;
    events += (*batch)->length;
    if (kind == EventKind::kInserts) {
      for (size_t i = 0; i < (*batch)->current_write_id.size(); ++i) {
        if ((*batch)->current_write_id[i] != (*batch)->original_write_id[i]) {
          return Wrong(path, "has an insert whose current write id is not its own");
        }
      }
    }
    if (after_batch) SKEP_RETURN_IF_ERROR(after_batch(events));
  }
  if (events != expected) {
    return Wrong(path, fmt::format("has {} events where {} were written", events, expected));
  }
  return absl::OkStatus();
}

}  // namespace skep::compact
