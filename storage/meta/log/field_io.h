#pragma once

// The fields of a row or an erase (columns.h) as the bytes of a record. docs/store.md, "The log",
// is the format; the names of the fields are not stored.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <absl/status/status.h>

#include "storage/base/clock.h"
#include "storage/meta/words.h"
#include "storage/model/ids.h"

namespace skep::meta {

// Appends fields to `out`, which must outlive the writer. Never allocates beyond growing `out`.
class FieldWriter {
 public:
  explicit FieldWriter(std::string& out) : out_(out) {}

  // kInternal for text that the tables could not hold.
  const absl::Status& status() const { return status_; }

  void Byte(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void Count(uint64_t value) {
    char bytes[10];
    size_t length = 0;
    for (; value >= 0x80; value >>= 7) bytes[length++] = static_cast<char>(value | 0x80);
    bytes[length++] = static_cast<char>(value);
    out_.append(bytes, length);
  }

  void Constant(std::string_view, int64_t) {}
  template <class Value>
  void operator()(std::string_view, const Value& value) {
    Write(value);
  }

 private:
  // Small numbers of either sign are short.
  void Write(int64_t value) {
    Count((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void Write(int32_t value) { Write(int64_t{value}); }
  void Write(bool value) { Byte(value ? 1 : 0); }
  void Write(Timestamp value) { Write(int64_t{value.time_since_epoch().count()}); }
  template <class Tag>
  void Write(StrongId<Tag> id) {
    Write(id.value());
  }
  void Write(const std::string& text) {
    Count(text.size());
    out_ += text;
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void Write(Enum value) { Count(static_cast<uint64_t>(value)); }
  template <class Enum>
  void Write(const std::optional<Enum>& value) {
    Count(value ? static_cast<uint64_t>(*value) + 1 : 0);
  }
  void Write(const std::array<uint8_t, 16>& bytes) {
    out_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void Write(const std::vector<int64_t>& ids);
  void Write(const Properties& properties);
  void Write(const TableSchema& schema);
  void Write(const std::vector<Column>& columns);
  void WriteUtf8(const std::string& text);

  std::string& out_;
  absl::Status status_;
};

// Takes fields off the front of `bytes`. What does not fit is remembered and left at its default;
// nothing is read beyond the end, and no memory is taken that the bytes do not account for.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return bytes_.empty(); }

  uint8_t Byte() {
    if (bytes_.empty()) return Misfit();
    const auto value = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return value;
  }
  uint64_t Count() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint64_t byte = Byte();
      // The shortest form only, so that a unit has one encoding.
      if (shift > 0 && byte == 0) return Misfit();
      if (shift == 63 && byte > 1) return Misfit();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return Misfit();
  }

  void Constant(std::string_view, int64_t) {}
  template <class Value>
  void operator()(std::string_view, Value& value) {
    Read(value);
  }

 private:
  uint8_t Misfit() {
    ok_ = false;
    bytes_ = {};
    return 0;
  }
  // Of a list whose entries take `least` bytes each.
  uint64_t CountOf(uint64_t least) {
    const uint64_t count = Count();
    return count > bytes_.size() / least ? Misfit() : count;
  }

  void Read(int64_t& value) {
    const uint64_t folded = Count();
    value = static_cast<int64_t>(folded >> 1) ^ -static_cast<int64_t>(folded & 1);
  }
  void Read(int32_t& value) {
    int64_t wide = 0;
    Read(wide);
    value = static_cast<int32_t>(wide);
    if (value != wide) Misfit();
  }
  void Read(bool& value) {
    const uint8_t byte = Byte();
    value = byte == 1;
    if (byte > 1) Misfit();
  }
  void Read(Timestamp& value) {
    int64_t ms = 0;
    Read(ms);
    value = Timestamp(std::chrono::milliseconds(ms));
  }
  template <class Tag>
  void Read(StrongId<Tag>& id) {
    int64_t value = 0;
    Read(value);
    id = StrongId<Tag>(value);
  }
  void Read(std::string& text) {
    const uint64_t length = CountOf(1);
    text = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void Read(Enum& value) {
    const uint64_t number = Count();
    if (number >= Words<Enum>::kCount) {
      Misfit();
    } else {
      value = static_cast<Enum>(number);
    }
  }
  template <class Enum>
  void Read(std::optional<Enum>& value) {
    const uint64_t number = Count();
    if (number > Words<Enum>::kCount) {
      Misfit();
    } else if (number == 0) {
      value.reset();
    } else {
      value = static_cast<Enum>(number - 1);
    }
  }
  void Read(std::array<uint8_t, 16>& bytes);
  void Read(std::vector<int64_t>& ids);
  void Read(Properties& properties);
  void Read(TableSchema& schema);
  void Read(std::vector<Column>& columns);

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace skep::meta
