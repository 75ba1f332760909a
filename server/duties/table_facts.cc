#include "server/duties/table_facts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/fs/file_system.h"
#include "storage/model/errors.h"

namespace skep::duties {

absl::StatusOr<TableFacts> ReadTableFacts(const state::State& state,
                                          const TableName& name,
                                          const std::string& partition) {
  constexpr int64_t kPage = 1'000;
  SKEP_ASSIGN_OR_RETURN(const state::TableInfo info, state.GetTable(name));
  SKEP_ASSIGN_OR_RETURN(state::TableView view, state.View(info.row.id));
  TableFacts facts{std::move(view.table), {}, std::move(view.write_ids), std::move(view.txns)};
  const bool partitioned = !facts.table.schema.partition_columns.empty();
  if (!partitioned) facts.partitions.emplace_back();
  for (std::string after; partitioned;) {
    SKEP_ASSIGN_OR_RETURN(std::vector<std::string> page,
                          state.Partitions(name, TxnId(), {}, after, kPage));
    if (page.empty()) break;
    after = page.back();
    std::move(page.begin(), page.end(), std::back_inserter(facts.partitions));
  }
  if (partition.empty()) return facts;
  if (std::find(facts.partitions.begin(), facts.partitions.end(), partition) ==
      facts.partitions.end()) {
    return MakeError(ErrorReason::kInvalidRequest,
                     name.ToString() + " has no partition " + Printable(partition),
                     {{"field", "partition"}, {"table", name.ToString()}});
  }
  facts.partitions = {partition};
  return facts;
}

acid::Visibility VisibilityOf(const TableRow& table, const TxnSnapshot& txns) {
  acid::Visibility visibility;
  visibility.txns = txns;
  visibility.adopted_bound = table.adopted_txn_bound;
  visibility.adopted_aborted = table.adopted_aborted_txns;
  return visibility;
}

std::string DirectoryOf(const TableRow& table, const std::string& partition) {
  return partition.empty() ? table.location : fs::JoinPath(table.location, partition);
}

std::string ObjectName(const TableName& name, const std::string& partition) {
  return partition.empty() ? name.ToString() : name.ToString() + "/" + partition;
}

}  // namespace skep::duties
