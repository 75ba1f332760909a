#pragma once

// What the bloom filter of a row group says of a predicate's literal, with everything left out that
// a writer is known to have hashed otherwise (RI-9, RI-13).

#include <cstdint>

#include "storage/format/literal.h"
#include "storage/format/orc/bloom_filter.h"
#include "storage/format/orc/stripe_source.h"
#include "storage/model/hive_type.h"

namespace skep::orc {

// Whether filters of `column` can exclude anything. `bounded`: its statistics have bounds within
// the type's own.
bool BloomFilterCounts(const StripeSource& source,
                       uint32_t column,
                       const HiveType& type,
                       bool bounded);

// False: no value that is read as `literal` went into `filter`, which counts. `literal` is of
// `type`; `calendar` is the one that the file is read in.
bool MayHold(const BloomFilter& filter,
             const format::Literal& literal,
             const HiveType& type,
             Calendar calendar);

}  // namespace skep::orc
