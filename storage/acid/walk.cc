#include "storage/acid/walk.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace skep::acid {

namespace {

std::string DescribeRange(int64_t first, int64_t last) {
  return first == last ? fmt::format("write id {}", first)
                       : fmt::format("write ids {} to {}", first, last);
}

std::string_view LastComponent(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string DescribeRange(const AcidDirName& name) {
  return DescribeRange(name.min_write_id, name.max_write_id);
}

// S-3: by write id, an overwrite base before a compacted one, then by visibility: the later one is
// better.
bool BaseBefore(const AcidDir& a, const AcidDir& b) {
  using Key = std::tuple<int64_t, bool, TxnId, const std::string&>;
  auto key = [](const AcidDir& d) {
    return Key(d.name.max_write_id, d.IsCompactedBase(), d.name.visibility, d.name.name);
  };
  return key(a) < key(b);
}

bool SameBase(const AcidDir& a, const AcidDir& b) {
  return a.name.max_write_id == b.name.max_write_id && a.IsCompactedBase() == b.IsCompactedBase() &&
         a.name.visibility == b.name.visibility;
}

// S-5. No statement id sorts first, no visibility last; "delete_delta_…" < "delta_…" by their text.
bool DeltaBefore(const AcidDir& a, const AcidDir& b) {
  using Key = std::tuple<int64_t, int64_t, int32_t, int64_t, const std::string&>;
  auto key = [](const AcidDir& d) {
    return Key(d.name.min_write_id,
               -d.name.max_write_id,
               d.name.statement.value_or(-1),
               -d.name.visibility.value(),
               d.name.name);
  };
  return key(a) < key(b);
}

// S-6.3: the insert and the delete half of one range.
bool IsPair(const AcidDirName& a, const AcidDirName& b) {
  return a.min_write_id == b.min_write_id && a.max_write_id == b.max_write_id &&
         a.statement == b.statement && a.visibility == b.visibility;
}

class Walk {
 public:
  Walk(const Listing& listing, const WriteIdSnapshot& write_ids, const Visibility& visibility)
      : listing_(listing), write_ids_(write_ids), visibility_(visibility) {}

  Walked Run() {
    Classify();
    ChooseBase();
    ChooseDeltas();
    ChooseOriginals();
    std::ranges::sort(selection_.obsolete);
    std::ranges::sort(selection_.aborted);
    selection_.aborted_write_ids.assign(aborted_ids_.begin(), aborted_ids_.end());
    std::ranges::sort(selection_.judged, {}, &Judged::name);
    return {.selection = std::move(selection_), .missed_base = std::move(missed_base_)};
  }

 private:
  void Judge(std::string_view name, Verdict verdict, std::string because) {
    if (verdict == Verdict::kObsolete) selection_.obsolete.emplace_back(name);
    if (verdict == Verdict::kAborted) selection_.aborted.emplace_back(name);
    selection_.judged.push_back(
        {.name = std::string(name), .verdict = verdict, .because = std::move(because)});
  }

  // S-2, and the two piles of S-3 and S-4.
  void Classify() {
    for (const AcidDir& dir : listing_.dirs) {
      switch (visibility_.Judge(dir.name.visibility)) {
        case Visibility::Answer::kAborted:
          Judge(dir.name.name,
                Verdict::kAborted,
                fmt::format("its compaction, transaction {}, was aborted",
                            dir.name.visibility.value()));
          break;
        case Visibility::Answer::kInvisible:
          Judge(dir.name.name,
                Verdict::kInvisible,
                fmt::format("its compaction, transaction {}, is not committed in this snapshot",
                            dir.name.visibility.value()));
          break;
        case Visibility::Answer::kVisible:
          (dir.name.kind == DirKind::kBase ? bases_ : deltas_).push_back(dir);
          break;
      }
    }
    std::ranges::sort(bases_, BaseBefore);
    std::ranges::sort(deltas_, DeltaBefore);
  }

  void ChooseBase() {
    const AcidDir* chosen = nullptr;
    const AcidDir* newest_compacted = nullptr;
    for (const AcidDir& base : bases_) {
      const int64_t id = base.name.max_write_id;
      const bool compacted = base.IsCompactedBase();
      if (compacted) newest_compacted = &base;
      if (!compacted && write_ids_.IsAborted(WriteId(id))) {
        aborted_ids_.insert(id);
        Judge(base.name.name, Verdict::kAborted, fmt::format("write id {} was aborted", id));
        continue;
      }
      if (chosen != nullptr && SameBase(*chosen, base)) {
        Judge(base.name.name, Verdict::kObsolete, "the same base as " + chosen->name.name);
        continue;
      }
      if (std::string obstacle = WhyNotValid(id, compacted); !obstacle.empty()) {
        Judge(base.name.name, Verdict::kInvisible, std::move(obstacle));
        continue;
      }
      if (chosen != nullptr) Judge(chosen->name.name, Verdict::kObsolete, CoveredBy(base));
      chosen = &base;
    }
    if (chosen != nullptr) {
      selection_.base = *chosen;
      Judge(chosen->name.name, Verdict::kChosen, "the newest visible base");
    } else if (newest_compacted != nullptr) {
      missed_base_ = newest_compacted->name.name;
    }
  }

  // S-3.4 without Hive's shortcut. Empty: the base is valid.
  std::string WhyNotValid(int64_t id, bool compacted) const {
    if (id == kOldestBase) return {};
    if (id > write_ids_.ids.high && !write_ids_.IsValid(WriteId(id))) {
      return fmt::format("write id {} is above the high mark {}", id, write_ids_.ids.high);
    }
    if (compacted) {
      if (write_ids_.IsValidBase(WriteId(id))) return {};
      return fmt::format("it covers write id {}, which is open in this snapshot",
                         write_ids_.ids.MinOpen());
    }
    if (write_ids_.IsValid(WriteId(id))) return {};
    return fmt::format("write id {} is open", id);
  }

  void ChooseDeltas() {
    const AcidDir* cover = selection_.base ? &*selection_.base : nullptr;
    // Ids start at 1, so the base of originals alone (N-9) counts as nothing covered.
    int64_t current = cover != nullptr ? std::max<int64_t>(cover->name.max_write_id, 0) : 0;
    const int64_t base_id = current;
    int32_t last_statement = -1;
    const AcidDir* previous = nullptr;
    for (const AcidDir& delta : deltas_) {
      const AcidDirName& name = delta.name;
      if (!InWorkingList(delta)) continue;
      std::string because;
      if (name.max_write_id > current) {
        const bool holds_news =
            write_ids_.RangeValidity(WriteId(current + 1), WriteId(name.max_write_id)) !=
            RangeAnswer::kNone;
        if (holds_news) {
          because = DescribeRange(name);
          current = name.max_write_id;
          last_statement = name.statement.value_or(-1);
          cover = &delta;
        } else if (cover != nullptr && WasLeftOut(name, *cover, current)) {
          because = DescribeRange(name) + ", left out of " + cover->name.name;
        } else {
          Judge(
              name.name,
              Verdict::kInvisible,
              fmt::format("nothing of {} is valid", DescribeRange(current + 1, name.max_write_id)));
          continue;
        }
      } else if (name.max_write_id == current && last_statement >= 0) {
        because = fmt::format("another statement of write id {}", current);
      } else if (previous != nullptr && IsPair(previous->name, name)) {
        because = "the other half of " + previous->name.name;
      } else {
        const bool below_base = selection_.base && name.max_write_id <= base_id;
        Judge(name.name, Verdict::kObsolete, CoveredBy(below_base ? *selection_.base : *cover));
        continue;
      }
      Judge(name.name, Verdict::kChosen, std::move(because));
      selection_.deltas.push_back(delta);
      previous = &delta;
    }
  }

  // S-10: a batch that reaches beyond a compaction's last id was unresolved for that compactor,
  // which left it out whole. What lies at or below that id is in the batch alone, also while
  // nothing above it is valid.
  static bool WasLeftOut(const AcidDirName& delta, const AcidDir& cover, int64_t current) {
    const bool cover_is_compacted = cover.IsCompactedBase() || !cover.name.visibility.is_none();
    return cover_is_compacted && delta.visibility.is_none() && delta.min_write_id <= current;
  }

  // S-4. False: judged already.
  bool InWorkingList(const AcidDir& delta) {
    const WriteId first(delta.name.min_write_id);
    const WriteId last(delta.name.max_write_id);
    const RangeAnswer aborted = write_ids_.RangeAborted(first, last);
    if (aborted == RangeAnswer::kAll) {
      for (int64_t id = first.value(); id <= last.value(); ++id) aborted_ids_.insert(id);
      Judge(delta.name.name, Verdict::kAborted, DescribeRange(delta.name) + " aborted");
      return false;
    }
    if (aborted == RangeAnswer::kSome) selection_.mixes_aborted = true;
    if (write_ids_.RangeValidity(first, last) == RangeAnswer::kNone) {
      Judge(delta.name.name,
            Verdict::kInvisible,
            first.value() > write_ids_.ids.high
                ? fmt::format(
                      "{} above the high mark {}", DescribeRange(delta.name), write_ids_.ids.high)
                : fmt::format("{} not resolved in this snapshot", DescribeRange(delta.name)));
      return false;
    }
    return true;
  }

  // S-7. Files without bytes hold no rows: never chosen. What is not named as Hive names it is
  // never called replaced: a cleaner would not touch it.
  void ChooseOriginals() {
    for (const OriginalFile& file : listing_.originals) {
      const bool hive_names_it =
          ParseFileName(LastComponent(file.relative_path)).kind == FileKind::kOriginal;
      if (!hive_names_it && (selection_.base || file.size == 0)) {
        Judge(file.relative_path, Verdict::kForeign, "not named as Hive names a data file");
      } else if (selection_.base) {
        Judge(file.relative_path, Verdict::kObsolete, CoveredBy(*selection_.base));
      } else if (file.size == 0) {
        Judge(file.relative_path, Verdict::kInvisible, "empty file");
      } else {
        Judge(file.relative_path, Verdict::kChosen, "original file, and there is no base");
        selection_.originals.push_back(file);
      }
    }
    std::ranges::sort(selection_.originals, {}, &OriginalFile::relative_path);
    if (!selection_.base) return;
    for (const std::string& dir : listing_.original_dirs) {
      if (IsUnionDirName(dir)) Judge(dir, Verdict::kObsolete, CoveredBy(*selection_.base));
    }
  }

  static std::string CoveredBy(const AcidDir& dir) { return "covered by " + dir.name.name; }

  const Listing& listing_;
  const WriteIdSnapshot& write_ids_;
  const Visibility& visibility_;
  std::vector<AcidDir> bases_;   // visible by transaction, in S-3's order
  std::vector<AcidDir> deltas_;  // likewise, in S-5's order
  Selection selection_;
  std::set<int64_t> aborted_ids_;
  std::optional<std::string> missed_base_;
};

}  // namespace

Walked WalkDirectories(const Listing& listing,
                       const WriteIdSnapshot& write_ids,
                       const Visibility& visibility) {
  return Walk(listing, write_ids, visibility).Run();
}

}  // namespace skep::acid
