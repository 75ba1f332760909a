#include <fmt/format.h>

#include "storage/acid/names.h"
#include "storage/base/check.h"
#include "storage/model/errors.h"

namespace skep::acid {

namespace {
constexpr uint32_t kVersionShift = 29;
constexpr uint32_t kVersionMask = 7;
constexpr uint32_t kBucketShift = 16;
constexpr uint32_t kTwelveBits = 0xFFF;
}  // namespace

bool IsEncodableBucket(int64_t bucket, int64_t statement) {
  return bucket >= 0 && bucket < kMaxBuckets && statement >= 0 && statement < kMaxStatements;
}

int32_t EncodeBucket(int32_t bucket, int32_t statement) {
  SKEP_CHECK(IsEncodableBucket(bucket, statement));
  return static_cast<int32_t>((1U << kVersionShift) |
                              (static_cast<uint32_t>(bucket) << kBucketShift) |
                              static_cast<uint32_t>(statement));
}

absl::StatusOr<BucketProperty> DecodeBucket(int32_t property) {
  const auto bits = static_cast<uint32_t>(property);
  switch ((bits >> kVersionShift) & kVersionMask) {
    case 0:  // B-2: Hive 2, the number itself
      return BucketProperty{.bucket = property, .statement = 0};
    case 1:
      return BucketProperty{.bucket = static_cast<int32_t>((bits >> kBucketShift) & kTwelveBits),
                            .statement = static_cast<int32_t>(bits & kTwelveBits)};
    default:
      return MakeError(ErrorReason::kCorruptFile,
                       fmt::format("bucket property {} has codec version {}; only 0 and 1 exist",
                                   property,
                                   (bits >> kVersionShift) & kVersionMask),
                       {{"bucketProperty", std::to_string(property)}});
  }
}

}  // namespace skep::acid
