#include "tests/sim/event_model.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

namespace skep::sim {
namespace {

std::string Text(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) text += fmt::format(" [{} {}]", fact.kind, fact.text);
  return text.empty() ? " nothing" : text;
}

}  // namespace

void EventModel::Note(CommitSeq unit, std::string kind, std::string text) {
  facts_[unit].push_back({std::move(kind), std::move(text)});
}

void EventModel::Stored(CommitSeq unit,
                        const Effects& effects,
                        const std::map<TxnId, AbortCause>& ended) {
  last_ = unit;
  for (const Effect& effect : effects) {
    if (const auto* txn = std::get_if<Put<TxnRow>>(&effect)) {
      if (!txns_.emplace(txn->row.id, txn->row.type).second) continue;
      if (txn->row.type != TxnType::kReadOnly) Note(unit, "opened", txn->row.id.ToString());
    } else if (const auto* id = std::get_if<Put<WriteIdRow>>(&effect)) {
      if (!write_ids_.emplace(id->row.table, id->row.write_id).second) continue;
      Note(unit,
           "allocated",
           fmt::format(
               "{} {} {}", id->row.table.value(), id->row.write_id.value(), id->row.txn.value()));
    } else if (const auto* table = std::get_if<Put<TableRow>>(&effect)) {
      if (tables_.insert(table->row->id).second) Note(unit, "added", table->row->id.ToString());
    } else if (const auto* dropped = std::get_if<Put<DroppedTableRow>>(&effect)) {
      if (tables_.erase(dropped->row.id) > 0) Note(unit, "dropped", dropped->row.id.ToString());
    } else if (const auto* gone = std::get_if<EraseTable>(&effect)) {
      // Where no older snapshot lives the table goes at once.
      if (tables_.erase(gone->id) > 0) Note(unit, "dropped", gone->id.ToString());
    } else if (const auto* partition = std::get_if<Put<PartitionRow>>(&effect)) {
      if (!partitions_.emplace(partition->row.table, partition->row.name).second) continue;
      Note(unit,
           "partition",
           fmt::format("{} {}", partition->row.table.value(), partition->row.name));
    } else if (const auto* left = std::get_if<ErasePartition>(&effect)) {
      partitions_.erase({left->table, left->name});
    } else if (const auto* row = std::get_if<Put<CompactionRow>>(&effect)) {
      const auto [it, fresh] = compactions_.emplace(row->row->id, row->row->state);
      if (!fresh && std::exchange(it->second, row->row->state) == row->row->state) continue;
      Note(unit,
           "compaction",
           fmt::format("{} {}", row->row->id.value(), CompactionStateName(row->row->state)));
    }
  }
  for (const auto& [txn, cause] : ended) {
    const auto type = txns_.find(txn);
    if (type != txns_.end() && type->second == TxnType::kReadOnly) continue;
    const bool committed = cause == AbortCause::kNone;
    Note(unit,
         committed ? "committed" : "aborted",
         committed ? txn.ToString() : fmt::format("{} {}", txn.value(), static_cast<int>(cause)));
  }
  const auto all = facts_.find(unit);
  if (all != facts_.end()) std::ranges::sort(all->second);
}

std::vector<Fact> EventModel::Of(CommitSeq unit) const {
  const auto found = facts_.find(unit);
  return found == facts_.end() ? std::vector<Fact>() : found->second;
}

std::vector<CommitSeq> EventModel::Between(CommitSeq after, CommitSeq until) const {
  std::vector<CommitSeq> units;
  for (auto it = facts_.upper_bound(after); it != facts_.end() && it->first <= until; ++it) {
    units.push_back(it->first);
  }
  return units;
}

// ---- one who watches ----

void EventReader::Begin(CommitSeq seq) {
  if (seq > model_.last()) {
    report_(fmt::format("events begin behind unit {}, and there is none", seq.value()));
  }
  seq_ = seq;
  index_ = 0;
  newest_ = {seq, INT32_MAX};
  told_.clear();
}

void EventReader::Told(CommitSeq seq, int32_t index, std::vector<Fact> facts) {
  const std::pair here(seq, index);
  const std::pair seen(seq_, index_ == 0 ? INT32_MAX : index_);
  if (here <= newest_ || here <= seen) {
    report_(fmt::format("event {} of unit {} was told after event {} of unit {}",
                        index,
                        seq.value(),
                        newest_.second,
                        newest_.first.value()));
  }
  newest_ = here;
  auto& of_unit = told_[seq];
  of_unit.insert(of_unit.end(), facts.begin(), facts.end());
}

std::vector<Fact> EventReader::Wanted(CommitSeq seq) const {
  std::vector<Fact> facts = model_.Of(seq);
  std::erase_if(
      facts, [this](const Fact& fact) { return !kinds_.empty() && !kinds_.contains(fact.kind); });
  return facts;
}

void EventReader::UpTo(CommitSeq seq, int32_t index) {
  if (seq > model_.last()) {
    return report_(fmt::format("events were seen up to unit {}, and there is none", seq.value()));
  }
  if (std::pair(seq, index == 0 ? INT32_MAX : index) <
      std::pair(seq_, index_ == 0 ? INT32_MAX : index_)) {
    report_(fmt::format("who had seen unit {} is said to be at {}", seq_.value(), seq.value()));
  }
  const CommitSeq first(index_ == 0 ? seq_.value() : seq_.value() - 1);
  std::vector<CommitSeq> units = model_.Between(first, seq);
  // Also of units that had nothing to tell.
  for (const auto& [unit, facts] : told_) {
    if (unit <= seq && model_.Of(unit).empty()) units.push_back(unit);
  }
  for (const CommitSeq unit : units) {
    std::vector<Fact> told = told_[unit];
    std::ranges::sort(told);
    const std::vector<Fact> wanted = Wanted(unit);
    const bool whole = unit != seq || index == 0;
    const bool right = whole ? told == wanted : std::ranges::includes(wanted, told);
    if (!right) {
      report_(fmt::format(
          "the events of unit {} are{}, told were{}", unit.value(), Text(wanted), Text(told)));
    }
  }
  // Of a unit that was not seen to its end, what was told is kept.
  std::erase_if(told_, [&](const auto& entry) {
    return entry.first < seq || (entry.first == seq && index == 0);
  });
  if (!told_.empty() && told_.rbegin()->first > seq) {
    report_(fmt::format("an event of unit {} was told, and seen is unit {}",
                        told_.rbegin()->first.value(),
                        seq.value()));
  }
  seq_ = seq;
  index_ = index;
}

}  // namespace skep::sim
