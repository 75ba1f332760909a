#include "storage/meta/sqlite/column_io.h"

#include <string.h>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::meta {

void ColumnBinder::BindJson(const absl::StatusOr<std::string>& text) {
  if (!text.ok()) {
    status_ = text.status();
    return;
  }
  Keep(sqlite3_bind_text64(
      statement_, ++index_, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void ColumnBinder::Refused(int code) {
  status_ = MakeError(ErrorReason::kInternal,
                      fmt::format("cannot bind column {} of '{}': {}",
                                  index_,
                                  sqlite3_sql(statement_),
                                  sqlite3_errstr(code)),
                      {{"sqlite", std::to_string(code)}});
}

void ColumnReader::Read(std::string_view name, std::array<uint8_t, 16>& bytes) {
  const void* blob = sqlite3_column_blob(statement_, index_);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, index_));
  if (blob == nullptr || size != bytes.size()) {
    Misfit(name);
    return;
  }
  memcpy(bytes.data(), blob, size);
}

void ColumnReader::Misfit(std::string_view name) {
  if (!status_.ok()) return;
  status_ =
      MakeError(ErrorReason::kCorruptStore,
                fmt::format("column {} holds '{}', which this program does not write; restore "
                            "the last backup or start the program that wrote it",
                            name,
                            Printable(Text())),
                {{"column", std::string(name)}});
}

}  // namespace skep::meta
