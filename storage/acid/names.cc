#include "storage/acid/names.h"

#include <limits>
#include <vector>

#include <fmt/format.h>

#include "storage/base/check.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::acid {

namespace {

constexpr std::string_view kBasePrefix = "base_";
constexpr std::string_view kDeltaPrefix = "delta_";
constexpr std::string_view kDeleteDeltaPrefix = "delete_delta_";
constexpr std::string_view kBucketPrefix = "bucket_";
constexpr std::string_view kFlushLengthSuffix = "_flush_length";
constexpr std::string_view kUnionDirPrefix = "HIVE_UNION_SUBDIR_";
constexpr std::string_view kTempDirPrefix = ".skep-tmp-";

bool ConsumePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// One or more digits and nothing else, of any padding; nullopt also where the number does not fit.
std::optional<int64_t> ParseDigits(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  return ParseInt64(text);
}

absl::Status Malformed(std::string_view name, std::string_view what) {
  return MakeError(ErrorReason::kMalformedDirectory,
                   fmt::format("directory '{}' begins like an ACID directory but {}; move it out "
                               "of the table directory or give it a name of another kind",
                               Printable(name),
                               what),
                   {{"path", Printable(name)}});
}

// Takes a trailing `_vN` off `parts`. False: the last part is `v…` and no number.
bool TakeVisibility(std::vector<std::string_view>& parts, TxnId* visibility) {
  std::string_view last = parts.back();
  if (!ConsumePrefix(last, "v")) return true;
  const std::optional<int64_t> id = ParseDigits(last);
  if (!id) return false;
  *visibility = TxnId(*id);
  parts.pop_back();
  return true;
}

absl::StatusOr<AcidDirName> ParseBase(std::string_view name, std::string_view rest) {
  AcidDirName dir{.kind = DirKind::kBase, .name = std::string(name)};
  std::vector<std::string_view> parts = SplitText(rest, '_');
  if (!TakeVisibility(parts, &dir.visibility) || parts.size() != 1) {
    return Malformed(name, "is not base_WRITEID or base_WRITEID_vTXNID");
  }
  std::string_view digits = parts[0];
  const bool negative = ConsumePrefix(digits, "-");
  const std::optional<int64_t> write_id =
      negative && digits.find_first_not_of("0123456789") != std::string_view::npos
          ? std::nullopt
          : (negative ? ParseInt64(parts[0]) : ParseDigits(parts[0]));
  if (!write_id) {
    return Malformed(name, "its write id is not a 64-bit number");
  }
  dir.min_write_id = *write_id;
  dir.max_write_id = *write_id;
  return dir;
}

absl::StatusOr<AcidDirName> ParseDelta(std::string_view name, std::string_view rest, DirKind kind) {
  AcidDirName dir{.kind = kind, .name = std::string(name)};
  std::vector<std::string_view> parts = SplitText(rest, '_');
  if (!TakeVisibility(parts, &dir.visibility) || parts.size() < 2 || parts.size() > 3) {
    return Malformed(name, "is not MIN_MAX, optionally followed by _STATEMENT and _vTXNID");
  }
  const std::optional<int64_t> min = ParseDigits(parts[0]);
  const std::optional<int64_t> max = ParseDigits(parts[1]);
  if (!min || !max) return Malformed(name, "its write ids are not 64-bit numbers");
  if (*min > *max) return Malformed(name, "its first write id is above its last");
  dir.min_write_id = *min;
  dir.max_write_id = *max;
  if (parts.size() == 3) {
    const std::optional<int64_t> statement = ParseDigits(parts[2]);
    if (!statement || *statement > std::numeric_limits<int32_t>::max()) {
      return Malformed(name, "its statement id is not a 32-bit number");
    }
    dir.statement = static_cast<int32_t>(*statement);
  }
  return dir;
}

// `BUCKET` or `BUCKET_ATTEMPT`.
bool ParseBucketAndAttempt(std::string_view text, DataFileName* file) {
  const size_t separator = text.find('_');
  const std::optional<int64_t> bucket = ParseDigits(text.substr(0, separator));
  if (!bucket) return false;
  std::optional<int64_t> attempt;
  if (separator != std::string_view::npos) {
    attempt = ParseDigits(text.substr(separator + 1));
    if (!attempt) return false;
  }
  file->bucket = *bucket;
  file->attempt = attempt;
  return true;
}

// `BUCKET_ATTEMPT` or `BUCKET_ATTEMPT_copy_N`.
bool ParseOriginal(std::string_view name, DataFileName* file) {
  const std::vector<std::string_view> parts = SplitText(name, '_');
  const bool is_copy = parts.size() == 4 && parts[2] == "copy";
  if (parts.size() != 2 && !is_copy) return false;
  const std::optional<int64_t> bucket = ParseDigits(parts[0]);
  const std::optional<int64_t> attempt = ParseDigits(parts[1]);
  const std::optional<int64_t> copy = is_copy ? ParseDigits(parts[3]) : std::nullopt;
  if (!bucket || !attempt || (is_copy && !copy)) return false;
  file->bucket = *bucket;
  file->attempt = attempt;
  file->copy = copy;
  return true;
}

std::string VisibilitySuffix(TxnId visibility) {
  return visibility.is_none() ? std::string() : fmt::format("_v{:07}", visibility.value());
}

}  // namespace

std::string BaseDirName(WriteId write_id, TxnId visibility) {
  return fmt::format("{}{:07}{}", kBasePrefix, write_id.value(), VisibilitySuffix(visibility));
}

std::string DeltaDirName(
    DirKind kind, WriteId min, WriteId max, std::optional<int32_t> statement, TxnId visibility) {
  SKEP_CHECK(kind != DirKind::kBase);
  SKEP_CHECK(min <= max);
  return fmt::format("{}{:07}_{:07}{}{}",
                     kind == DirKind::kDelta ? kDeltaPrefix : kDeleteDeltaPrefix,
                     min.value(),
                     max.value(),
                     statement ? fmt::format("_{:04}", *statement) : std::string(),
                     VisibilitySuffix(visibility));
}

absl::StatusOr<std::optional<AcidDirName>> ParseDirName(std::string_view name) {
  if (name.find('=') != std::string_view::npos) return std::nullopt;
  std::string_view rest = name;
  // N-1: the longer prefix first.
  absl::StatusOr<AcidDirName> parsed = AcidDirName();
  if (ConsumePrefix(rest, kDeleteDeltaPrefix)) {
    parsed = ParseDelta(name, rest, DirKind::kDeleteDelta);
  } else if (ConsumePrefix(rest, kDeltaPrefix)) {
    parsed = ParseDelta(name, rest, DirKind::kDelta);
  } else if (ConsumePrefix(rest, kBasePrefix)) {
    parsed = ParseBase(name, rest);
  } else {
    return std::nullopt;
  }
  if (!parsed.ok()) return parsed.status();
  return std::optional<AcidDirName>(*std::move(parsed));
}

DataFileName ParseFileName(std::string_view name) {
  DataFileName file{.name = std::string(name)};
  std::string_view rest = name;
  if (ConsumePrefix(rest, kBucketPrefix)) {
    FileKind kind = FileKind::kBucket;
    if (rest.ends_with(kFlushLengthSuffix)) {
      kind = FileKind::kFlushLength;
      rest.remove_suffix(kFlushLengthSuffix.size());
    }
    if (ParseBucketAndAttempt(rest, &file)) file.kind = kind;
  } else if (ParseOriginal(name, &file)) {
    file.kind = FileKind::kOriginal;
  }
  return file;
}

std::string BucketFileName(int32_t bucket) { return fmt::format("{}{:05}", kBucketPrefix, bucket); }

std::string FlushLengthFileName(std::string_view data_file) {
  return std::string(data_file).append(kFlushLengthSuffix);
}

bool IsUnionDirName(std::string_view name) {
  return ConsumePrefix(name, kUnionDirPrefix) && ParseDigits(name).has_value();
}

std::string CompactorTempDirName(TxnId txn) {
  return fmt::format("{}{}", kTempDirPrefix, txn.value());
}

std::optional<TxnId> ParseCompactorTempDirName(std::string_view name) {
  if (!ConsumePrefix(name, kTempDirPrefix)) return std::nullopt;
  const std::optional<int64_t> txn = ParseDigits(name);
  if (!txn) return std::nullopt;
  return TxnId(*txn);
}

bool IsHiddenName(std::string_view name) { return name.starts_with('_') || name.starts_with('.'); }

}  // namespace skep::acid
