#include "storage/compact/job.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "storage/acid/names.h"
#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/compact/calendar_choice.h"
#include "storage/compact/input_check.h"
#include "storage/compact/verify.h"
#include "storage/model/errors.h"
#include "storage/table/source_errors.h"
#include "storage/table/sources.h"

namespace skep::compact {

namespace {

constexpr std::string_view kAcidVersion = "2";  // H-5

// What planning looked at.
struct Prepared {
  Plan plan;
  std::map<int32_t, table::BucketSources> sources;
  // Output of an earlier attempt under the same transaction: nobody else can see it.
  std::vector<std::string> own_leftovers;
};

absl::StatusOr<Prepared> LookAndPlan(fs::FileSystem& fs, const CompactionRequest& request) {
  Prepared prepared;
  absl::StatusOr<acid::Listing> listed = table::ListDirectory(fs, request.directory);
  SKEP_RETURN_IF_ERROR(table::MissingIfNotFound(listed.status(), request.directory));
  acid::Listing listing = *std::move(listed);
  std::erase_if(listing.dirs, [&](const acid::AcidDir& dir) {
    const bool own = dir.name.visibility == request.txn && !request.txn.is_none();
    if (own) prepared.own_leftovers.push_back(dir.name.name);
    return own;
  });
  const WriteIdSnapshot view = request.write_ids.role == SnapshotRole::kCompactor
                                   ? request.write_ids
                                   : request.write_ids.ForCompactor();
  SKEP_ASSIGN_OR_RETURN(const acid::Selection selection,
                        acid::SelectDirectories(listing, view, request.visibility));
  SKEP_ASSIGN_OR_RETURN(prepared.plan,
                        MakePlan(request.type, request.txn, listing, selection, view));
  if (prepared.plan.outcome != PlanOutcome::kMerge) return prepared;
  SKEP_RETURN_IF_ERROR(CheckInputNames(fs, request.directory, prepared.plan.inputs));
  SKEP_ASSIGN_OR_RETURN(
      prepared.sources,
      table::CollectSources(fs, request.directory, InputsOf(request.type, selection)));
  AddBuckets(prepared.sources, &prepared.plan);
  return prepared;
}

class Job {
 public:
  Job(fs::FileSystem& fs, const CompactionRequest& request, Prepared prepared)
      : fs_(fs),
        request_(request),
        plan_(std::move(prepared.plan)),
        sources_(std::move(prepared.sources)),
        own_leftovers_(std::move(prepared.own_leftovers)),
        temp_dir_(fs::JoinPath(request.directory, acid::CompactorTempDirName(request.txn))) {}

  absl::StatusOr<CompactionResult> Run() {
    progress_.buckets = sources_.size();
    const absl::Status status = RunSteps();
    if (!status.ok()) {
      RemoveOutputs();
      return status;
    }
    return CompactionResult{.plan = std::move(plan_), .totals = totals_, .outputs = installed_};
  }

 private:
  struct BucketOutput {
    int32_t bucket = 0;
    int64_t rows = 0;
    int64_t deletes = 0;
  };

  absl::Status RunSteps() {
    SKEP_RETURN_IF_ERROR(Prepare());
    SKEP_RETURN_IF_ERROR(MergeBuckets());
    SKEP_RETURN_IF_ERROR(Seal());
    SKEP_RETURN_IF_ERROR(Verify());
    return Install();
  }

  void Step(std::string_view step) const {
    if (request_.at_step) request_.at_step(step);
  }

  absl::Status Report(int64_t events_read) {
    progress_.events_read = events_read;
    return request_.on_progress ? request_.on_progress(progress_) : absl::OkStatus();
  }

  std::string InTemp(const std::string& output) const { return fs::JoinPath(temp_dir_, output); }
  bool is_major() const { return plan_.type == CompactionType::kMajor; }
  const std::string& insert_output() const { return is_major() ? plan_.base : plan_.delta; }

  absl::Status Prepare() {
    SKEP_RETURN_IF_ERROR(ChooseWriterOptions());
    SKEP_RETURN_IF_ERROR(fs_.RemoveTree(temp_dir_));
    for (const std::string& name : own_leftovers_) {
      SKEP_RETURN_IF_ERROR(fs_.RemoveTree(fs::JoinPath(request_.directory, name)));
    }
    SKEP_RETURN_IF_ERROR(fs_.CreateDirectories(InTemp(insert_output())));
    if (!is_major()) SKEP_RETURN_IF_ERROR(fs_.CreateDirectories(InTemp(plan_.delete_delta)));
    Step(kStepPrepared);
    return absl::OkStatus();
  }

  absl::Status ChooseWriterOptions() {
    SKEP_ASSIGN_OR_RETURN(orc::WriterOptions writer, orc::WriterOptionsOf(request_.properties));
    SKEP_ASSIGN_OR_RETURN(writer.calendar, ChooseCalendar(sources_, request_.calendar));
    merge_options_ = {.columns = request_.columns,
                      .orc = writer,
                      .source_calendar = request_.calendar,
                      .write_ids = request_.write_ids,
                      .batch_rows = request_.batch_rows,
                      .max_open_deletes = request_.max_open_deletes,
                      .scratch_dir = temp_dir_,
                      .after_batch = [this](int64_t events) { return Report(events); }};
    return absl::OkStatus();
  }

  absl::Status MergeBuckets() {
    for (const auto& [bucket, sources] : sources_) {
      SKEP_RETURN_IF_ERROR(Report(0));
      const std::string file = acid::BucketFileName(bucket);
      const std::string inserts = fs::JoinPath(InTemp(insert_output()), file);
      auto merged = is_major() ? MergeMajor(fs_, sources, inserts, merge_options_)
                               : MergeMinor(fs_,
                                            sources,
                                            inserts,
                                            fs::JoinPath(InTemp(plan_.delete_delta), file),
                                            merge_options_);
      if (!merged.ok()) return merged.status();
      totals_ += *merged;
      outputs_.push_back(
          {.bucket = bucket, .rows = merged->rows_written, .deletes = merged->deletes_written});
      ++progress_.buckets_merged;
      Step(kStepBucketMerged);
    }
    return absl::OkStatus();
  }

  // Decides which outputs there are (OUT-4, OUT-6), marks them and makes them durable in place.
  absl::Status Seal() {
    if (!is_major() && totals_.deletes_written > 0) names_.push_back(plan_.delete_delta);
    // A base hides history also without rows. A delta without rows stands for inputs that had
    // nothing valid: without it they would stay for ever.
    if (is_major() || totals_.rows_written > 0 || names_.empty()) names_.push_back(insert_output());
    for (const std::string& name : names_) {
      SKEP_RETURN_IF_ERROR(fs::WriteSmallFile(
          fs_, fs::JoinPath(InTemp(name), acid::kAcidVersionFile), kAcidVersion));
      SKEP_RETURN_IF_ERROR(fs_.SyncDirectory(InTemp(name)));
    }
    SKEP_RETURN_IF_ERROR(fs_.SyncDirectory(temp_dir_));
    Step(kStepSealed);
    return absl::OkStatus();
  }

  absl::Status Verify() {
    if (is_major() &&
        totals_.rows_read - totals_.rows_deleted - totals_.rows_aborted != totals_.rows_written) {
      return MakeError(ErrorReason::kInternal,
                       fmt::format("compaction of {}: {} rows read, {} deleted, {} aborted, but {} "
                                   "written; the output is thrown away, the inputs stay",
                                   Printable(request_.directory),
                                   totals_.rows_read,
                                   totals_.rows_deleted,
                                   totals_.rows_aborted,
                                   totals_.rows_written),
                       {{"path", request_.directory}});
    }
    const auto report = [this](int64_t events) { return Report(events); };
    for (const BucketOutput& output : outputs_) {
      SKEP_RETURN_IF_ERROR(VerifyOutput(
          fs_, InTemp(insert_output()), output.bucket, EventKind::kInserts, output.rows, report));
      if (is_major()) continue;
      SKEP_RETURN_IF_ERROR(VerifyOutput(fs_,
                                        InTemp(plan_.delete_delta),
                                        output.bucket,
                                        EventKind::kDeletes,
                                        output.deletes,
                                        report));
    }
    Step(kStepVerified);
    return absl::OkStatus();
  }

  // Neither half of a pair counts before the transaction commits, and it commits only after both.
  absl::Status Install() {
    for (const std::string& name : names_) {
      SKEP_RETURN_IF_ERROR(
          fs_.RenameNoReplace(InTemp(name), fs::JoinPath(request_.directory, name)));
      installed_.push_back(name);
      SKEP_RETURN_IF_ERROR(fs_.SyncDirectory(request_.directory));
      if (name != names_.back()) Step(kStepDeleteDeltaInstalled);
    }
    Step(kStepInstalled);
    // What is left of the temporary directory bothers nobody; the sweep tries again.
    if (const absl::Status status = fs_.RemoveTree(temp_dir_); !status.ok()) {
      Log(LogLevel::kWarn,
          "compaction.leftover",
          {{"path", temp_dir_}, {"error", MessageOf(status)}});
    }
    Step(kStepTidied);
    return absl::OkStatus();
  }

  // Only what this transaction made. Failures are left to the cleaner: the directories are aborted
  // ones then.
  void RemoveOutputs() {
    std::vector<std::string> paths = {temp_dir_};
    for (const std::string& name : installed_) {
      paths.push_back(fs::JoinPath(request_.directory, name));
    }
    for (const std::string& path : paths) {
      const absl::Status status = fs_.RemoveTree(path);
      if (status.ok()) continue;
      Log(LogLevel::kWarn, "compaction.leftover", {{"path", path}, {"error", MessageOf(status)}});
    }
  }

  fs::FileSystem& fs_;
  const CompactionRequest& request_;
  Plan plan_;
  const std::map<int32_t, table::BucketSources> sources_;
  const std::vector<std::string> own_leftovers_;
  const std::string temp_dir_;
  MergeOptions merge_options_;
  CompactionProgress progress_;
  MergeTotals totals_;
  std::vector<BucketOutput> outputs_;
  std::vector<std::string> names_;  // outputs that will be installed, in order
  std::vector<std::string> installed_;
};

}  // namespace

absl::StatusOr<Plan> PlanCompaction(fs::FileSystem& fs, const CompactionRequest& request) {
  SKEP_ASSIGN_OR_RETURN(Prepared prepared, LookAndPlan(fs, request));
  return std::move(prepared.plan);
}

absl::StatusOr<CompactionResult> RunCompaction(fs::FileSystem& fs,
                                               const CompactionRequest& request) {
  SKEP_ASSIGN_OR_RETURN(Prepared prepared, LookAndPlan(fs, request));
  if (request.at_step) request.at_step(kStepPlanned);
  if (prepared.plan.outcome != PlanOutcome::kMerge) {
    return CompactionResult{.plan = std::move(prepared.plan), .totals = {}, .outputs = {}};
  }
  return Job(fs, request, std::move(prepared)).Run();
}

}  // namespace skep::compact
