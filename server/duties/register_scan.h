#pragma once

// What a table directory written by others holds: everything that RegisterTable has to know. Reads
// names, tails of data files and, where these say nothing about updates, rows. Changes nothing.

#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/state/commands.h"
#include "storage/fs/file_system.h"
#include "storage/model/names.h"
#include "storage/model/table.h"

namespace skep::duties {

// The table's definition, where the caller has it (DDL).
struct GivenDefinition {
  TableSchema schema;
  FileFormat format = FileFormat::kOrc;
  Properties properties;
};

struct RegisterScanRequest {
  TableName name;
  std::string location;                       // absolute, normalised
  std::optional<GivenDefinition> definition;  // none: from the files, which must all be ORC
  std::string valid_write_ids;                // Hive's text; empty: everything on disk is committed
  std::string valid_txns;                     // Hive's text, "all", or empty
};

struct RegisterScanResult {
  state::RegisterTable command;    // without its request key
  std::vector<std::string> notes;  // what was assumed, one sentence each
};

// Errors:
//   kInvalidRequest      a list that does not fit the directory, a location that is no directory
//   kLegacyLayout        Hive 2's update events (RW-3)
//   kMalformedDirectory  names or places that the layout does not have; partitions beside data
//   kNotSupported        not all ORC and no definition given; says what to give
//   kTableNotTransactional  a definition of a managed table with `transactional`=`false`
//   kCorruptFile         a data file whose tail cannot be read
absl::StatusOr<RegisterScanResult> ScanForRegister(fs::FileSystem& fs,
                                                   const RegisterScanRequest& request);

}  // namespace skep::duties
