// What clients were told about materialised views: one rebuild at a time, and what became of the
// sources is never less than what did.

#include <set>
#include <utility>

#include <fmt/format.h>

#include "tests/sim/history.h"

namespace skep::sim {

void History::Rebuilds(const std::string& view, TxnId txn, std::function<bool()> in_force) {
  log_.Note("rebuilds", {{"view", view}, {"txn", txn.value()}});
  if (!in_force()) return;
  if (const Txn* const owner = Find(txn); owner != nullptr && owner->ended) return;
  const auto other = rebuilds_.find(view);
  if (other != rebuilds_.end() && other->second.txn != txn && other->second.in_force()) {
    report_(fmt::format("transaction {} may rebuild view {} while transaction {} does",
                        txn.value(),
                        view,
                        other->second.txn.value()));
  }
  rebuilds_[view] = {txn, {}, std::move(in_force)};
}

void History::Published(TableId table, TxnId txn, CommitSeq seq) {
  log_.Note("published", {{"table", table.value()}, {"txn", txn.value()}, {"seq", seq.value()}});
  published_[table] = seq;
  if (merged_.contains(txn)) return;
  report_(
      fmt::format("unit {} published what transaction {} compacted, which has not merged all "
                  "of it",
                  seq.value(),
                  txn.value()));
}

void History::Changed(TxnId txn,
                      CommitSeq snapshot,
                      const WriteIdSnapshot& built_from,
                      const Change& told) {
  const TableId table = built_from.table_id;
  const auto wrong = [&](const std::string& what) {
    report_(fmt::format("transaction {} with snapshot {} is told of table {} since {}: {}",
                        txn.value(),
                        snapshot.value(),
                        table.value(),
                        built_from.seq.value(),
                        what));
  };
  if (told.unknown) {
    const bool good = dropped_.contains(table) || built_from.seq > snapshot;
    if (!good) wrong("nothing, and there is much to tell");
    return;
  }
  const ValidIds then = built_from.ids;
  const ValidIds now = model_.WriteIdsAt(table, snapshot);
  std::set<int64_t> came;
  for (int64_t id = 1; id <= now.high; ++id) {
    if (now.IsValid(id) && !then.IsValid(id)) came.insert(id);
  }
  if (came != told.now_visible) {
    wrong(fmt::format("{} write ids came, and {} are named", came.size(), told.now_visible.size()));
  }
  if (told.unchanged != came.empty()) wrong("whether anything came is not what came");
  if (!told.rows_changed) {
    for (auto place = commits_.lower_bound({table, ""});
         place != commits_.end() && place->first.table == table;
         ++place) {
      for (const Commit& commit : place->second) {
        if (commit.seq <= built_from.seq || commit.seq > snapshot) continue;
        if (commit.written->op == WriteOp::kInsert) continue;
        wrong(fmt::format("no row was changed, but transaction {} did", commit.txn.value()));
      }
    }
  }
  const auto published = published_.find(table);
  const bool compacted = published != published_.end() && published->second > built_from.seq;
  if (compacted && published->second <= snapshot && !told.compacted) {
    wrong(fmt::format("no compaction, but unit {} published one", published->second.value()));
  }
}

}  // namespace skep::sim
