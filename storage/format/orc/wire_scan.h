#pragma once

// A look at protobuf bytes without building messages: how many entries of each field a message
// holds, so that a hostile count is refused before anything is allocated for it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include <absl/status/statusor.h>

namespace skep::orc {

struct FieldCounts {
  std::map<uint32_t, size_t> fields;  // by field number
  size_t inner = 0;  // entries of field 1 within all submessages of the field asked for

  size_t Of(uint32_t field) const {
    const auto at = fields.find(field);
    return at == fields.end() ? 0 : at->second;
  }
};

// Counts the top-level fields; with `nested` ≠ 0 also field 1 of that field's submessages.
// Errors: kCorruptFile where the bytes are no message.
absl::StatusOr<FieldCounts> CountFields(std::string_view message, uint32_t nested = 0);

}  // namespace skep::orc
