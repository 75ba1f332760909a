#include "storage/compact/plan.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::compact {

namespace {

// OUT-15: deltas that stay out only because an id above the compactor's high mark is in them.
std::vector<const acid::AcidDirName*> Straddlers(const acid::Listing& listing,
                                                 const acid::Selection& selection,
                                                 int64_t high) {
  std::vector<const acid::AcidDirName*> found;
  for (const acid::AcidDir& dir : listing.dirs) {
    const acid::AcidDirName& name = dir.name;
    const bool straddles = name.kind != acid::DirKind::kBase && name.visibility.is_none() &&
                           name.min_write_id <= high && name.max_write_id > high;
    if (straddles && !std::ranges::count(selection.aborted, name.name)) found.push_back(&name);
  }
  std::ranges::sort(found, {}, [](const acid::AcidDirName* name) { return name->name; });
  return found;
}

int64_t HighestWriteId(const acid::Selection& selection,
                       const std::vector<const acid::AcidDirName*>& straddlers,
                       int64_t high) {
  int64_t highest = high;
  for (const acid::AcidDirName* name : straddlers) {
    highest = std::min(highest, name->min_write_id - 1);
  }
  if (selection.base && selection.base->name.max_write_id > highest) return high;
  // Only batches reach beyond the mark, and a batch owns every id of its range; should a listing
  // say otherwise, the name must not claim less than its inputs hold.
  for (const acid::AcidDir& delta : selection.deltas) {
    if (delta.name.max_write_id > highest) return high;
  }
  return highest;
}

// WK-8. Empty: enough.
std::string WhyNotEnough(CompactionType type, const acid::Selection& selection) {
  const size_t deltas = selection.deltas.size();
  if (type == CompactionType::kMajor) {
    if (!selection.originals.empty() || deltas + (selection.base ? 1 : 0) > 1) return {};
    return deltas == 0 && !selection.base ? "there is no data"
                                          : "there is one directory only, nothing to merge it with";
  }
  if (deltas < 2) return fmt::format("a minor compaction needs two deltas, there is {}", deltas);
  const auto deletes = std::ranges::count_if(selection.deltas, [](const acid::AcidDir& delta) {
    return delta.name.kind == acid::DirKind::kDeleteDelta;
  });
  if (deltas == 2 && deletes == 1) return "one delta and one delete delta: nothing to merge";
  return {};
}

void NameOutputs(const acid::Selection& selection, Plan* plan) {
  if (plan->type == CompactionType::kMajor) {
    plan->base = acid::BaseDirName(plan->highest_write_id, plan->txn);
    return;
  }
  // OUT-1, OUT-2: one range for both, that of the inputs.
  int64_t min = selection.deltas.front().name.min_write_id;
  int64_t max = selection.deltas.front().name.max_write_id;
  for (const acid::AcidDir& delta : selection.deltas) {
    min = std::min(min, delta.name.min_write_id);
    max = std::max(max, delta.name.max_write_id);
  }
  const auto name = [&](acid::DirKind kind) {
    return acid::DeltaDirName(kind, WriteId(min), WriteId(max), std::nullopt, plan->txn);
  };
  plan->delta = name(acid::DirKind::kDelta);
  plan->delete_delta = name(acid::DirKind::kDeleteDelta);
}

std::string WhyMerged(const table::SourceFile& file) {
  if (file.dir && file.dir->kind == acid::DirKind::kDeleteDelta) return "delete events are merged";
  if (file.synthetic) return "its rows carry no row ids yet";
  return "stripes are not copied in this version";
}

InputFilePlan PlanFile(const table::SourceFile& file) {
  InputFilePlan plan{.path = file.path,
                     .holds_deletes = file.dir && file.dir->kind == acid::DirKind::kDeleteDelta};
  if (file.tail == nullptr) return plan;
  for (const orc::Stripe& stripe : file.tail->stripes) {
    plan.stripes.push_back({.rows = stripe.rows,
                            .bytes = stripe.length(),
                            .action = StripeAction::kMerge,
                            .because = WhyMerged(file)});
  }
  return plan;
}

}  // namespace

absl::StatusOr<Plan> MakePlan(CompactionType type,
                              TxnId txn,
                              const acid::Listing& listing,
                              const acid::Selection& selection,
                              const WriteIdSnapshot& write_ids) {
  if (type == CompactionType::kRebalance) {
    return MakeError(ErrorReason::kNotSupported,
                     "rebalance compaction comes with a later release; ask for a major one",
                     {{"what", "rebalance compaction"}});
  }
  Plan plan{.type = type, .txn = txn};
  const std::vector<const acid::AcidDirName*> straddlers =
      Straddlers(listing, selection, write_ids.ids.high);
  for (const acid::AcidDirName* name : straddlers) plan.left_out.push_back(name->name);
  plan.highest_write_id = WriteId(HighestWriteId(selection, straddlers, write_ids.ids.high));

  plan.because = WhyNotEnough(type, selection);
  if (!plan.because.empty()) {
    if (!selection.obsolete.empty() || !selection.aborted.empty()) {
      plan.outcome = PlanOutcome::kCleanOnly;
      plan.because += fmt::format("; {} obsolete and {} aborted directories wait for cleaning",
                                  selection.obsolete.size(),
                                  selection.aborted.size());
    }
    return plan;
  }
  plan.outcome = PlanOutcome::kMerge;
  if (type == CompactionType::kMajor) {
    for (const acid::OriginalFile& file : selection.originals) {
      plan.inputs.push_back(file.relative_path);
    }
    if (selection.base) plan.inputs.push_back(selection.base->name.name);
  }
  for (const acid::AcidDir& delta : selection.deltas) plan.inputs.push_back(delta.name.name);
  plan.because =
      fmt::format("{} inputs up to write id {}", plan.inputs.size(), plan.highest_write_id.value());
  NameOutputs(selection, &plan);
  return plan;
}

acid::Selection InputsOf(CompactionType type, acid::Selection selection) {
  if (type == CompactionType::kMinor) {
    selection.base.reset();
    selection.originals.clear();
  }
  return selection;
}

void AddBuckets(const std::map<int32_t, table::BucketSources>& sources, Plan* plan) {
  plan->buckets.clear();
  for (const auto& [bucket, files] : sources) {
    BucketPlan bucket_plan{.bucket = bucket};
    for (const table::SourceFile& file : files.inserts) bucket_plan.files.push_back(PlanFile(file));
    for (const table::SourceFile& file : files.deletes) bucket_plan.files.push_back(PlanFile(file));
    plan->buckets.push_back(std::move(bucket_plan));
  }
}

std::string DescribePlan(const Plan& plan) {
  std::string text = fmt::format("{} compaction by transaction {}, up to write id {}: {}\n",
                                 CompactionTypeName(plan.type),
                                 plan.txn.value(),
                                 plan.highest_write_id.value(),
                                 plan.because);
  for (const std::string& name : plan.left_out) {
    text += fmt::format("  left out: {} (a batch that is not resolved yet)\n", Printable(name));
  }
  if (plan.outcome != PlanOutcome::kMerge) return text;
  for (const std::string& input : plan.inputs)
    text += fmt::format("  input: {}\n", Printable(input));
  for (const std::string* output : {&plan.base, &plan.delete_delta, &plan.delta}) {
    if (!output->empty()) text += fmt::format("  output: {}\n", *output);
  }
  for (const BucketPlan& bucket : plan.buckets) {
    text += fmt::format("  bucket {}:\n", bucket.bucket);
    for (const InputFilePlan& file : bucket.files) {
      text += fmt::format("    {}\n", Printable(file.path));
      for (size_t i = 0; i < file.stripes.size(); ++i) {
        const StripePlan& stripe = file.stripes[i];
        text += fmt::format("      stripe {}: {} rows, {} bytes: {} ({})\n",
                            i,
                            stripe.rows,
                            stripe.bytes,
                            stripe.action == StripeAction::kCopy ? "copy" : "merge",
                            stripe.because);
      }
    }
  }
  return text;
}

}  // namespace skep::compact
