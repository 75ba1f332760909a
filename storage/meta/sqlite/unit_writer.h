#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/meta/sqlite/database.h"
#include "storage/model/effect.h"

namespace skep::meta {

// Turns effects into statements, all prepared once. Confined to one thread.
class UnitWriter {
 public:
  // `db` must outlive the writer and have the current schema.
  static absl::StatusOr<std::unique_ptr<UnitWriter>> Prepare(Database& db);

  // Runs the statements of `net` within the transaction that is open. Errors: as SqliteError, and
  // kInternal for a value that cannot be written; the transaction is to be rolled back then.
  absl::Status Write(const std::vector<const Effect*>& net);

 private:
  explicit UnitWriter(Database& db) : db_(db) {}
  template <size_t... kIndex>
  absl::Status PrepareAll(std::index_sequence<kIndex...>);
  absl::Status Write(const Effect& effect);

  Database& db_;
  // For each alternative of Effect what it takes; all of them get the same bindings.
  std::array<std::vector<Statement>, std::variant_size_v<Effect>> statements_;
};

}  // namespace skep::meta
