#include "storage/compact/bucket_merge.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "storage/base/status_macros.h"

namespace skep::compact {

namespace {

// Rows are judged one by one as a reader would (D-2, D-3): the compactor's own view answers for
// whole ranges.
WriteIdSnapshot RowView(const WriteIdSnapshot& write_ids) {
  WriteIdSnapshot view = write_ids;
  view.role = SnapshotRole::kReader;
  return view;
}

class Merge {
 public:
  Merge(fs::FileSystem& fs, const MergeOptions& options)
      : fs_(fs), options_(options), view_(RowView(options.write_ids)) {}

  absl::StatusOr<MergeTotals> Major(const table::BucketSources& sources, const std::string& path) {
    SKEP_ASSIGN_OR_RETURN(std::vector<table::SourceFile> deletes, FewDeletes(sources.deletes));
    EventMerge rows(fs_, sources.inserts, OptionsFor(EventKind::kInserts));
    EventMerge victims(fs_, std::move(deletes), OptionsFor(EventKind::kDeletes));
    EventOutput output(fs_, path, OutputFor(EventKind::kInserts));
    SKEP_RETURN_IF_ERROR(NextVictims(victims));
    while (true) {
      SKEP_ASSIGN_OR_RETURN(const std::optional<EventRun> run, rows.Next());
      if (!run) break;
      totals_.rows_read += run->end - run->begin;
      std::vector<int64_t> kept = KeepValid(*run, &totals_.rows_aborted);
      SKEP_RETURN_IF_ERROR(DropDeleted(*run, victims, &kept));
      SKEP_RETURN_IF_ERROR(output.Add(*run, kept));
    }
    // What is left hits no row; it is read to its end so that damage in it is seen.
    while (victims_run_) SKEP_RETURN_IF_ERROR(NextVictims(victims));
    SKEP_RETURN_IF_ERROR(Close(&output, &totals_.rows_written));
    return totals_;
  }

  absl::StatusOr<MergeTotals> Minor(const table::BucketSources& sources,
                                    const std::string& delta_path,
                                    const std::string& delete_path) {
    SKEP_RETURN_IF_ERROR(Copy(sources.inserts,
                              EventKind::kInserts,
                              delta_path,
                              &totals_.rows_read,
                              &totals_.rows_aborted,
                              &totals_.rows_written));
    SKEP_ASSIGN_OR_RETURN(std::vector<table::SourceFile> deletes, FewDeletes(sources.deletes));
    SKEP_RETURN_IF_ERROR(Copy(std::move(deletes),
                              EventKind::kDeletes,
                              delete_path,
                              &totals_.deletes_read,
                              &totals_.deletes_aborted,
                              &totals_.deletes_written));
    return totals_;
  }

 private:
  EventMerge::Options OptionsFor(EventKind kind) {
    return {.kind = kind,
            .columns = options_.columns,
            .calendar = options_.source_calendar,
            .batch_rows = options_.batch_rows,
            .after_batch = [this, before = int64_t{0}](int64_t read) mutable -> absl::Status {
              events_read_ += read - std::exchange(before, read);
              return options_.after_batch ? options_.after_batch(events_read_) : absl::OkStatus();
            }};
  }

  EventOutput::Options OutputFor(EventKind kind) const {
    return {.kind = kind, .columns = options_.columns, .orc = options_.orc};
  }

  // Indices of the run whose own write id is valid.
  std::vector<int64_t> KeepValid(const EventRun& run, int64_t* aborted) const {
    const bool check = table::RowsNeedCheck(*run.source, view_);
    std::vector<int64_t> kept;
    kept.reserve(static_cast<size_t>(run.end - run.begin));
    for (int64_t i = run.begin; i < run.end; ++i) {
      if (!check || view_.IsValid(WriteId(run.events->current_write_id[static_cast<size_t>(i)]))) {
        kept.push_back(i);
      } else {
        ++*aborted;
      }
    }
    return kept;
  }

  // The next run of delete events that count.
  absl::Status NextVictims(EventMerge& victims) {
    do {
      SKEP_ASSIGN_OR_RETURN(victims_run_, victims.Next());
      if (!victims_run_) return absl::OkStatus();
      totals_.deletes_read += victims_run_->end - victims_run_->begin;
      victim_indices_ = KeepValid(*victims_run_, &totals_.deletes_aborted);
      next_victim_ = 0;
    } while (victim_indices_.empty());
    return absl::OkStatus();
  }

  // Sort-merge of rows and delete events: both ascend.
  absl::Status DropDeleted(const EventRun& run, EventMerge& victims, std::vector<int64_t>* kept) {
    size_t live = 0;
    for (const int64_t i : *kept) {
      const orc::AcidKey key = run.KeyAt(i);
      while (victims_run_ && Victim() < key) {
        if (++next_victim_ == victim_indices_.size()) SKEP_RETURN_IF_ERROR(NextVictims(victims));
      }
      if (victims_run_ && Victim() == key) {
        ++totals_.rows_deleted;
      } else {
        (*kept)[live++] = i;
      }
    }
    kept->resize(live);
    return absl::OkStatus();
  }

  orc::AcidKey Victim() const { return victims_run_->KeyAt(victim_indices_[next_victim_]); }

  absl::Status Copy(std::vector<table::SourceFile> files,
                    EventKind kind,
                    const std::string& path,
                    int64_t* read,
                    int64_t* aborted,
                    int64_t* written) {
    EventMerge events(fs_, std::move(files), OptionsFor(kind));
    EventOutput output(fs_, path, OutputFor(kind));
    while (true) {
      SKEP_ASSIGN_OR_RETURN(const std::optional<EventRun> run, events.Next());
      if (!run) break;
      *read += run->end - run->begin;
      SKEP_RETURN_IF_ERROR(output.Add(*run, KeepValid(*run, aborted)));
    }
    return Close(&output, written);
  }

  absl::Status Close(EventOutput* output, int64_t* written) {
    SKEP_ASSIGN_OR_RETURN(const orc::FileSummary summary, output->Close());
    *written += summary.rows;
    totals_.bytes_written += summary.bytes;
    if (summary.rows > 0) ++totals_.files_written;
    return absl::OkStatus();
  }

  // At most max_open_deletes files with the events of `files` that count.
  absl::StatusOr<std::vector<table::SourceFile>> FewDeletes(std::vector<table::SourceFile> files) {
    const size_t limit = std::max<size_t>(2, options_.max_open_deletes);
    while (files.size() > limit) {
      std::vector<table::SourceFile> group(files.begin(),
                                           files.begin() + static_cast<ptrdiff_t>(limit));
      files.erase(files.begin(), files.begin() + static_cast<ptrdiff_t>(limit));
      SKEP_ASSIGN_OR_RETURN(std::optional<table::SourceFile> merged, MergeGroup(std::move(group)));
      if (merged) files.push_back(*std::move(merged));
    }
    return files;
  }

  absl::StatusOr<std::optional<table::SourceFile>> MergeGroup(
      std::vector<table::SourceFile> group) {
    table::SourceFile merged{
        .path =
            fs::JoinPath(options_.scratch_dir,
                         fmt::format("deletes_{:05}_{}", group.front().bucket, scratch_files_++)),
        .dir = group.front().dir,
        .bucket = group.front().bucket};
    for (const table::SourceFile& file : group) {
      merged.dir->min_write_id = std::min(merged.dir->min_write_id, file.dir->min_write_id);
      merged.dir->max_write_id = std::max(merged.dir->max_write_id, file.dir->max_write_id);
    }
    // Events are counted where they come from, once.
    int64_t read = 0;
    int64_t written = 0;
    int64_t aborted = 0;
    const MergeTotals before = totals_;
    SKEP_RETURN_IF_ERROR(
        Copy(std::move(group), EventKind::kDeletes, merged.path, &read, &aborted, &written));
    totals_ = before;
    totals_.deletes_read += aborted;
    totals_.deletes_aborted += aborted;
    if (written == 0) return std::nullopt;
    return merged;
  }

  fs::FileSystem& fs_;
  const MergeOptions& options_;
  const WriteIdSnapshot view_;
  MergeTotals totals_;
  int64_t events_read_ = 0;
  int scratch_files_ = 0;
  std::optional<EventRun> victims_run_;
  std::vector<int64_t> victim_indices_;
  size_t next_victim_ = 0;
};

}  // namespace

MergeTotals& MergeTotals::operator+=(const MergeTotals& other) {
  rows_read += other.rows_read;
  rows_deleted += other.rows_deleted;
  rows_aborted += other.rows_aborted;
  rows_written += other.rows_written;
  deletes_read += other.deletes_read;
  deletes_aborted += other.deletes_aborted;
  deletes_written += other.deletes_written;
  bytes_written += other.bytes_written;
  files_written += other.files_written;
  return *this;
}

absl::StatusOr<MergeTotals> MergeMajor(fs::FileSystem& fs,
                                       const table::BucketSources& sources,
                                       const std::string& path,
                                       const MergeOptions& options) {
  return Merge(fs, options).Major(sources, path);
}

absl::StatusOr<MergeTotals> MergeMinor(fs::FileSystem& fs,
                                       const table::BucketSources& sources,
                                       const std::string& delta_path,
                                       const std::string& delete_path,
                                       const MergeOptions& options) {
  return Merge(fs, options).Minor(sources, delta_path, delete_path);
}

}  // namespace skep::compact
