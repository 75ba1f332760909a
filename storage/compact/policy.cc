#include "storage/compact/policy.h"

#include <algorithm>

#include <fmt/format.h>

#include "storage/base/counted.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::compact {

namespace {

constexpr std::string_view kPctProperty = "compactorthreshold.hive.compactor.delta.pct.threshold";
constexpr std::string_view kNumProperty = "compactorthreshold.hive.compactor.delta.num.threshold";
constexpr std::string_view kNoAutoCompaction = "no_auto_compaction";

absl::Status BadProperty(std::string_view property,
                         std::string_view value,
                         std::string_view wanted) {
  return MakeError(
      ErrorReason::kInvalidRequest,
      fmt::format("table property {} is '{}': {} is needed", property, Printable(value), wanted),
      {{"field", std::string(property)}});
}

Decision Choose(CompactionType type, std::string reason) { return {type, std::move(reason)}; }
Decision LeaveAlone(std::string reason) { return {std::nullopt, std::move(reason)}; }

}  // namespace

absl::StatusOr<Thresholds> ThresholdsOf(const Properties& properties, const Thresholds& defaults) {
  Thresholds thresholds = defaults;
  if (const std::string text = PropertyIgnoreCase(properties, kPctProperty); !text.empty()) {
    const std::optional<double> pct = ParseDouble(TrimBlanks(text));
    if (!pct || !(*pct >= 0)) return BadProperty(kPctProperty, text, "a number of at least 0");
    thresholds.delta_pct = *pct;
  }
  if (const std::string text = PropertyIgnoreCase(properties, kNumProperty); !text.empty()) {
    const std::optional<int64_t> num = ParseInt64(TrimBlanks(text));
    if (!num || *num < 0) return BadProperty(kNumProperty, text, "a whole number of at least 0");
    thresholds.delta_num = *num;
  }
  return thresholds;
}

bool AutoCompactionIsOff(const Properties& properties) {
  return AsciiEqualsIgnoreCase(TrimBlanks(PropertyIgnoreCase(properties, kNoAutoCompaction)),
                               "true");
}

ObjectFacts FactsOf(const acid::Selection& selection, const Sizes& sizes) {
  ObjectFacts facts;
  facts.base_bytes = selection.base ? sizes.Of(selection.base->name.name) : sizes.originals;
  for (const acid::AcidDir& delta : selection.deltas) {
    facts.delta_bytes += sizes.Of(delta.name.name);
    ++facts.delta_count;
  }
  facts.has_obsolete_base = std::ranges::any_of(selection.obsolete, [](const std::string& name) {
    const auto parsed = acid::ParseDirName(name);
    return parsed.ok() && parsed->has_value() && (*parsed)->kind == acid::DirKind::kBase;
  });
  return facts;
}

Decision Decide(const ObjectFacts& facts, const Thresholds& thresholds) {
  if (facts.too_many_aborts) return Choose(CompactionType::kMajor, "too many aborted transactions");
  if (facts.old_abort) return Choose(CompactionType::kMinor, "an aborted transaction is very old");
  const bool no_base = facts.base_bytes == 0 && facts.delta_bytes > 0;
  if (!no_base) {
    // IN-14: with neither base nor deltas there is no ratio.
    const double ratio = facts.base_bytes == 0 ? 0
                                               : static_cast<double>(facts.delta_bytes) /
                                                     static_cast<double>(facts.base_bytes);
    if (ratio > thresholds.delta_pct) {
      return Choose(CompactionType::kMajor,
                    fmt::format("deltas have {} bytes, {:.3g} of the base's {} and more than {:g}",
                                facts.delta_bytes,
                                ratio,
                                facts.base_bytes,
                                thresholds.delta_pct));
    }
    if (facts.delta_bytes == 0 && facts.has_obsolete_base) {
      return Choose(CompactionType::kMajor, "an older base waits for cleaning");
    }
  }
  const std::string count =
      Counted(facts.delta_count, "delta directory") + (no_base ? " and no base" : "");
  if (facts.delta_count <= thresholds.delta_num) {
    return LeaveAlone(fmt::format("{}, not more than {}", count, thresholds.delta_num));
  }
  return Choose(no_base ? CompactionType::kMajor : CompactionType::kMinor,
                fmt::format("{}, more than {}", count, thresholds.delta_num));
}

}  // namespace skep::compact
