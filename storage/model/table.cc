#include "storage/model/table.h"

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep {

std::string_view TableKindName(TableKind kind) {
  switch (kind) {
    case TableKind::kFullAcid:
      return "FULL_ACID";
    case TableKind::kInsertOnly:
      return "INSERT_ONLY";
    case TableKind::kExternal:
      return "EXTERNAL";
  }
  return "UNKNOWN";
}

std::string_view FileFormatName(FileFormat format) {
  switch (format) {
    case FileFormat::kOrc:
      return "orc";
    case FileFormat::kParquet:
      return "parquet";
    case FileFormat::kAvro:
      return "avro";
    case FileFormat::kText:
      return "text";
    case FileFormat::kOther:
      return "other";
  }
  return "unknown";
}

absl::StatusOr<FileFormat> ParseFileFormat(std::string_view text) {
  const std::string lower = AsciiLower(text);
  if (lower == "orc") return FileFormat::kOrc;
  if (lower == "parquet") return FileFormat::kParquet;
  if (lower == "avro") return FileFormat::kAvro;
  if (lower == "text" || lower == "textfile") return FileFormat::kText;
  return MakeError(
      ErrorReason::kInvalidRequest,
      fmt::format("unknown file format '{}': use orc, parquet, avro or text", Printable(text)),
      {{"field", "format"}, {"format", std::string(text)}});
}

TableKind ManagedKind(FileFormat format, const Properties& properties) {
  const std::string form = PropertyIgnoreCase(properties, "transactional_properties");
  const bool full = format == FileFormat::kOrc && !AsciiEqualsIgnoreCase(form, "insert_only");
  return full ? TableKind::kFullAcid : TableKind::kInsertOnly;
}

std::string BucketingClause(const Bucketing& bucketing) {
  if (!bucketing.bucketed()) return "";
  return fmt::format(
      "CLUSTERED BY ({}) INTO {} BUCKETS", JoinText(bucketing.columns, ", "), bucketing.count);
}

std::string PropertyIgnoreCase(const Properties& properties, std::string_view key) {
  for (const auto& [name, value] : properties) {
    if (AsciiEqualsIgnoreCase(name, key)) return value;
  }
  return "";
}

}  // namespace skep
