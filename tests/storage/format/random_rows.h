#pragma once

#include <memory>
#include <random>
#include <vector>

#include <arrow/record_batch.h>

#include "storage/model/hive_type.h"

namespace skep::testing {

// A type of any kind, nested at most `depth` deep.
HiveType RandomType(std::mt19937_64& random, int depth);
std::vector<Column> RandomColumns(std::mt19937_64& random, int depth);
// Every kind once, and every nesting of two.
std::vector<Column> AllKinds();

// Values of the vocabulary, on purpose with what breaks a careless writer: children of null structs
// that are not null, null lists that are not empty, members of a union beside its tag, years 1 and
// 9999, fractions before 1970, zero bytes in text. Arrays may be slices of longer ones.
std::shared_ptr<arrow::RecordBatch> RandomBatch(std::mt19937_64& random,
                                                const std::vector<Column>& columns,
                                                int64_t rows);

}  // namespace skep::testing
