#pragma once

// Names of everything in Hive's ACID layout: build and parse, nothing else knows the grammar
// (N-1…N-14).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "storage/model/ids.h"

namespace skep::acid {

inline constexpr int64_t kOldestBase = INT64_MIN;  // base_-9223372036854775808 (N-9)
inline constexpr int kMaxStatements = 4096;        // N-7
inline constexpr int kMaxBuckets = 4096;           // N-8
inline constexpr std::string_view kAcidVersionFile = "_orc_acid_version";
inline constexpr std::string_view kMetadataFile = "_metadata_acid";

enum class DirKind { kBase, kDelta, kDeleteDelta };

// A base or delta directory by its name. `name` is the text as listed: paths are made from it,
// never rebuilt.
struct AcidDirName {
  DirKind kind = DirKind::kDelta;
  int64_t min_write_id = 0;  // base: equal to max
  int64_t max_write_id = 0;
  std::optional<int32_t> statement;  // deltas only
  TxnId visibility;                  // `_vN`; none if absent or 0 (N-5)
  std::string name;

  friend bool operator==(const AcidDirName&, const AcidDirName&) = default;
};

std::string BaseDirName(WriteId write_id, TxnId visibility = TxnId());
std::string DeltaDirName(DirKind kind,
                         WriteId min,
                         WriteId max,
                         std::optional<int32_t> statement,
                         TxnId visibility = TxnId());

// Accepts any padding and both suffixes (N-2, N-3). nullopt: not an ACID directory name (a
// partition directory, a foreign name). Errors: kMalformedDirectory where the name begins like one
// and does not parse, or min > max (N-6).
absl::StatusOr<std::optional<AcidDirName>> ParseDirName(std::string_view name);

enum class FileKind { kBucket, kOriginal, kFlushLength, kOther };

struct DataFileName {
  FileKind kind = FileKind::kOther;
  int64_t bucket = -1;
  std::optional<int64_t> attempt;
  std::optional<int64_t> copy;  // _copy_N of an original
  std::string name;
};

DataFileName ParseFileName(std::string_view name);
std::string BucketFileName(int32_t bucket);  // bucket_00003
std::string FlushLengthFileName(std::string_view data_file);

// HIVE_UNION_SUBDIR_N: the one kind of ordinary sub-directory whose name says what it is.
bool IsUnionDirName(std::string_view name);

// Where one compaction builds its output before it has its final names: hidden (H-2), one per
// transaction.
std::string CompactorTempDirName(TxnId txn);  // .skep-tmp-17
// nullopt: any other name.
std::optional<TxnId> ParseCompactorTempDirName(std::string_view name);

// Begins with '_' or '.': invisible to reads (H-1); the two metadata files are not data either.
bool IsHiddenName(std::string_view name);

// ---- Bucket property (B-1…B-7) ----

struct BucketProperty {
  int32_t bucket = 0;
  int32_t statement = 0;
};
// False where codec v1 has no room (N-7, N-8): such files and statements get no row ids.
bool IsEncodableBucket(int64_t bucket, int64_t statement);
// Precondition: IsEncodableBucket.
int32_t EncodeBucket(int32_t bucket, int32_t statement);
// Errors: kCorruptFile for versions other than 0 and 1.
absl::StatusOr<BucketProperty> DecodeBucket(int32_t property);

}  // namespace skep::acid
