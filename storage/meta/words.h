#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "storage/model/compaction.h"
#include "storage/model/lock.h"
#include "storage/model/table.h"
#include "storage/model/txn.h"

namespace skep::meta {

// The words by which enums are stored: the model's own names. kCount is one above the last value.
template <class Enum>
struct Words;

template <>
struct Words<TxnType> {
  static constexpr int kCount = 7;
  static std::string_view Name(TxnType value) { return TxnTypeName(value); }
};
template <>
struct Words<AbortCause> {
  static constexpr int kCount = 10;
  static std::string_view Name(AbortCause value) { return AbortCauseName(value); }
};
template <>
struct Words<WriteOp> {
  static constexpr int kCount = 5;
  static std::string_view Name(WriteOp value) { return WriteOpName(value); }
};
template <>
struct Words<LockKind> {
  static constexpr int kCount = 4;
  static std::string_view Name(LockKind value) { return LockKindName(value); }
};
template <>
struct Words<LockState> {
  static constexpr int kCount = 4;
  static std::string_view Name(LockState value) { return LockStateName(value); }
};
template <>
struct Words<TableKind> {
  static constexpr int kCount = 3;
  static std::string_view Name(TableKind value) { return TableKindName(value); }
};
template <>
struct Words<FileFormat> {
  static constexpr int kCount = 5;
  static std::string_view Name(FileFormat value) { return FileFormatName(value); }
};
template <>
struct Words<CompactionType> {
  static constexpr int kCount = 3;
  static std::string_view Name(CompactionType value) { return CompactionTypeName(value); }
};
template <>
struct Words<CompactionState> {
  static constexpr int kCount = 8;
  static std::string_view Name(CompactionState value) { return CompactionStateName(value); }
};

template <class Enum>
std::optional<Enum> FromWord(std::string_view word) {
  for (int i = 0; i < Words<Enum>::kCount; ++i) {
    if (Words<Enum>::Name(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace skep::meta
