#pragma once

// The three things done with a row's columns (storage/meta/columns.h): naming, binding, reading.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <absl/status/status.h>
#include <sqlite3.h>

#include "storage/base/clock.h"
#include "storage/meta/sqlite/json_columns.h"
#include "storage/meta/words.h"
#include "storage/model/ids.h"

namespace skep::meta {

// Collects the names, for the text of statements.
class ColumnNames {
 public:
  void Constant(std::string_view name, int64_t) { names_.emplace_back(name); }
  template <class Value>
  void operator()(std::string_view name, const Value&) {
    names_.emplace_back(name);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// Binds a row to ?1, ?2, … of a statement. The row must outlive the step: text is not copied.
class ColumnBinder {
 public:
  explicit ColumnBinder(sqlite3_stmt* statement) : statement_(statement) {}

  // kInternal if a value could not be written at all.
  const absl::Status& status() const { return status_; }

  void Constant(std::string_view, int64_t value) { Bind(value); }
  template <class Value>
  void operator()(std::string_view, const Value& value) {
    Bind(value);
  }

  void Bind(int64_t value) { Keep(sqlite3_bind_int64(statement_, ++index_, value)); }
  void Bind(int32_t value) { Bind(int64_t{value}); }
  void Bind(bool value) { Bind(int64_t{value}); }
  void Bind(Timestamp value) { Bind(int64_t{value.time_since_epoch().count()}); }
  template <class Tag>
  void Bind(StrongId<Tag> id) {
    Bind(id.value());
  }
  void Bind(std::string_view text) {
    // An empty view may have no address, and SQLite takes a null pointer for NULL.
    const char* bytes = text.data() != nullptr ? text.data() : "";
    Keep(sqlite3_bind_text64(statement_, ++index_, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  }
  void Bind(const std::string& text) { Bind(std::string_view(text)); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void Bind(Enum value) { Bind(Words<Enum>::Name(value)); }
  template <class Enum>
  void Bind(const std::optional<Enum>& value) {
    if (value) {
      Bind(*value);
    } else {
      Keep(sqlite3_bind_null(statement_, ++index_));
    }
  }
  void Bind(const std::array<uint8_t, 16>& bytes) {
    Keep(sqlite3_bind_blob64(statement_, ++index_, bytes.data(), bytes.size(), SQLITE_STATIC));
  }
  void Bind(const TableSchema& schema) { BindJson(ToJson(schema)); }
  void Bind(const Properties& properties) { BindJson(ToJson(properties)); }
  void Bind(const std::vector<int64_t>& ids) { BindJson(ToJson(ids)); }

 private:
  void BindJson(const absl::StatusOr<std::string>& text);
  void Keep(int code) {
    if (code != SQLITE_OK) Refused(code);
  }
  void Refused(int code);

  sqlite3_stmt* statement_;
  int index_ = 0;
  absl::Status status_;
};

// Reads the current row of a statement. Whatever does not fit is remembered and left at its
// default.
class ColumnReader {
 public:
  explicit ColumnReader(sqlite3_stmt* statement) : statement_(statement) {}

  // kCorruptStore naming the column and the value that does not fit.
  const absl::Status& status() const { return status_; }

  void Constant(std::string_view, int64_t) { ++index_; }
  template <class Value>
  void operator()(std::string_view name, Value& value) {
    Read(name, value);
    ++index_;
  }

 private:
  int64_t Int() const { return sqlite3_column_int64(statement_, index_); }
  std::string_view Text() const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, index_));
    return {text != nullptr ? text : "",
            static_cast<size_t>(sqlite3_column_bytes(statement_, index_))};
  }

  void Read(std::string_view, int64_t& value) { value = Int(); }
  void Read(std::string_view name, int32_t& value) {
    value = static_cast<int32_t>(Int());
    if (value != Int()) Misfit(name);
  }
  void Read(std::string_view name, bool& value) {
    value = Int() != 0;
    if (Int() != 0 && Int() != 1) Misfit(name);
  }
  void Read(std::string_view, Timestamp& value) {
    value = Timestamp(std::chrono::milliseconds(Int()));
  }
  template <class Tag>
  void Read(std::string_view, StrongId<Tag>& id) {
    id = StrongId<Tag>(Int());
  }
  void Read(std::string_view, std::string& text) { text = Text(); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void Read(std::string_view name, Enum& value) {
    const std::optional<Enum> known = FromWord<Enum>(Text());
    if (known) {
      value = *known;
    } else {
      Misfit(name);
    }
  }
  template <class Enum>
  void Read(std::string_view name, std::optional<Enum>& value) {
    if (sqlite3_column_type(statement_, index_) == SQLITE_NULL) {
      value.reset();
    } else {
      Read(name, value.emplace());
    }
  }
  void Read(std::string_view name, std::array<uint8_t, 16>& bytes);
  template <class Json>
  requires(std::same_as<Json, TableSchema> || std::same_as<Json, Properties> ||
           std::same_as<Json, std::vector<int64_t>>) void Read(std::string_view name, Json& value) {
    if (!FromJson(Text(), value).ok()) Misfit(name);
  }

  void Misfit(std::string_view name);

  sqlite3_stmt* statement_;
  int index_ = 0;
  absl::Status status_;
};

}  // namespace skep::meta
