#pragma once

// The tail of an ORC file (postscript, footer, metadata) as plain values: ours from the first day,
// read and written without a file-format library. No Arrow, no protobuf type in this header.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/fs/file_system.h"
#include "storage/model/hive_type.h"

namespace skep::orc {

enum class Compression { kNone = 0, kZlib = 1, kSnappy = 2, kLzo = 3, kLz4 = 4, kZstd = 5 };
std::string_view CompressionName(Compression compression);
absl::StatusOr<Compression> ParseCompression(
    std::string_view text);  // the values of `orc.compress`

enum class Calendar { kUnknown = 0, kJulianGregorian = 1, kProleptic = 2 };

struct Stripe {
  uint64_t offset = 0;
  uint64_t index_length = 0;
  uint64_t data_length = 0;
  uint64_t footer_length = 0;
  uint64_t rows = 0;
  uint64_t length() const { return index_length + data_length + footer_length; }
};

// One node of the type tree in ORC's preorder numbering; column id = index in Tail::types.
struct TypeNode {
  HiveType type;  // children empty: see `subtypes`
  std::vector<uint32_t> subtypes;
  std::vector<std::string> field_names;
};

// Statistics of one column, file-wide or per stripe, as far as the writer gave them. Bounds of
// strings may be truncated (`*_truncated`). Nothing here is to be believed where
// Tail::StatisticsTrusted() is false (M-4).
struct ColumnStatistics {
  std::optional<uint64_t> values;  // without nulls
  bool has_null = true;
  std::optional<int64_t> int_min, int_max, int_sum;
  std::optional<double> double_min, double_max, double_sum;
  std::optional<std::string> string_min, string_max;
  bool string_min_truncated = false, string_max_truncated = false;
  std::optional<int64_t> string_length_sum;
  std::optional<int32_t> date_min, date_max;
  std::optional<int64_t> timestamp_min_utc_ms, timestamp_max_utc_ms;
  std::optional<std::string> decimal_min, decimal_max, decimal_sum;
  std::optional<uint64_t> true_count;
  std::string raw;  // the serialised message as found: copied where statistics are carried over
};

struct Tail {
  uint64_t file_length = 0;  // as looked at: logical length
  uint64_t content_length = 0;
  uint64_t rows = 0;
  std::optional<uint32_t> row_index_stride;
  Compression compression = Compression::kNone;
  uint64_t block_size = 0;
  std::vector<uint32_t> version;  // e.g. {0, 12}
  uint32_t writer = 0;            // 0 ORC Java, 1 ORC C++, 2 Presto, 4 Trino, 5 CUDF, …
  uint32_t writer_version = 0;
  std::string software_version;
  Calendar calendar = Calendar::kUnknown;
  bool encrypted = false;
  std::vector<Stripe> stripes;
  std::vector<TypeNode> types;
  HiveType root;  // the tree of `types` as a HiveType
  std::map<std::string, std::string> user_metadata;
  std::vector<ColumnStatistics> file_statistics;  // by column id; may be empty
  std::vector<std::vector<ColumnStatistics>>
      stripe_statistics;  // by stripe, column id; may be empty

  bool StatisticsTrusted() const { return row_index_stride.value_or(0) > 0; }
  // design: without the field, Java files with writer version ≤ 6 are hybrid, all others proleptic.
  Calendar EffectiveCalendar() const;
};

// Reads the tail of the first `length` bytes of `file` (the whole file, or a streaming file's
// logical length). Every length and count is checked against the file before it is believed.
// Errors: kCorruptFile with path and offset; kNotSupported (lzo, encrypted columns) by name.
absl::StatusOr<Tail> ReadTail(const fs::RandomAccessFile& file, int64_t length);

// The writer's zone of a stripe ("" = none written), from its stripe footer.
absl::StatusOr<std::string> ReadStripeWriterZone(const fs::RandomAccessFile& file,
                                                 const Tail& tail,
                                                 size_t stripe);

// ---- Hive's ACID metadata in user_metadata ----

struct AcidKey {
  int64_t original_write_id = 0;
  int32_t bucket = 0;  // bucket property, compared as a signed number
  int64_t row_id = 0;
  friend auto operator<=>(const AcidKey&, const AcidKey&) = default;
};

struct AcidStats {
  int64_t inserts = 0, updates = 0, deletes = 0;
  friend bool operator==(const AcidStats&, const AcidStats&) = default;
};

// nullopt where the entry is absent or (M-3) does not fit the stripes.
std::optional<std::vector<AcidKey>> KeyIndexOf(const Tail& tail);
std::optional<AcidStats> AcidStatsOf(const Tail& tail);
std::string FormatKeyIndex(const std::vector<AcidKey>& last_key_of_stripe);
std::string FormatAcidStats(const AcidStats& stats);

// True iff the root is a struct of exactly the six ACID fields in order, any case (RW-2).
bool HasAcidSchema(const Tail& tail);

}  // namespace skep::orc
