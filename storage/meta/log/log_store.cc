#include "storage/meta/log/log_store.h"

#include <utility>

#include "storage/base/log.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/meta/log/recovery.h"
#include "storage/model/errors.h"

namespace skep::meta {
namespace {

// How long the tables rest after they could not take a slice.
constexpr std::chrono::seconds kRetry{1};

bool MayPass(const absl::Status& status) {
  const ErrorReason reason = ReasonOf(status);
  return reason == ErrorReason::kStoreFull || reason == ErrorReason::kStoreBusy;
}

}  // namespace

LogStore::LogStore(const LogStoreOptions& options, std::unique_ptr<SqliteStore> tables)
    : options_(options),
      clock_(options.clock != nullptr ? *options.clock : system_clock_),
      tables_(std::move(tables)),
      executor_(options.executor) {}

absl::StatusOr<std::unique_ptr<LogStore>> LogStore::Open(const LogStoreOptions& options) {
  fs::PosixFileSystem system_fs;
  fs::FileSystem& fs = options.fs != nullptr ? *options.fs : system_fs;
  SKEP_ASSIGN_OR_RETURN(RecoveredTables recovered, OpenTablesAfterLog(fs, options.tables));
  SegmentLog::Options segments;
  segments.store_path = options.tables.path;
  SKEP_ASSIGN_OR_RETURN(segments.store_id, recovered.tables->StoreId());
  SKEP_ASSIGN_OR_RETURN(segments.last, recovered.tables->Sequence());
  segments.first_number = recovered.highest_segment + 1;
  segments.first_bytes = options.first_segment_bytes;
  segments.largest_bytes = options.largest_segment_bytes;
  std::unique_ptr<LogStore> store(new LogStore(options, std::move(recovered.tables)));
  SegmentLog::Ports ports{&store->system_fs_, &store->system_files_, &store->system_random_};
  if (options.fs != nullptr) ports.fs = options.fs;
  if (options.in_place_files != nullptr) ports.files = options.in_place_files;
  if (options.random != nullptr) ports.random = options.random;
  SKEP_ASSIGN_OR_RETURN(store->log_, SegmentLog::Create(ports, segments));
  {
    absl::MutexLock hold(&store->tables_mutex_);
    store->applied_ = store->log_->begin();
  }
  if (store->executor_ == nullptr) {
    store->own_executor_ = std::make_unique<ThreadExecutor>("skep-tables", 1, store->clock_);
    store->executor_ = store->own_executor_.get();
  }
  return store;
}

LogStore::~LogStore() {
  if (executor_ != nullptr) {
    absl::MutexLock lock(&timers_mutex_);
    for (const Executor::TimerId timer : timers_) executor_->Cancel(timer);
  }
  if (own_executor_) own_executor_->Stop();
  if (!log_ || !broken_.ok()) return;
  absl::Status status = Drain();
  if (status.ok()) status = log_->RemoveAll();
  if (!status.ok()) Log(LogLevel::kWarn, "store.log_stays", {{"error", MessageOf(status)}});
}

absl::StatusOr<StoredState> LogStore::Load() {
  SKEP_RETURN_IF_ERROR(broken_);
  absl::MutexLock lock(&tables_mutex_);
  SKEP_RETURN_IF_ERROR(tables_broken_);
  SKEP_ASSIGN_OR_RETURN(StoredState state, tables_->Load());
  for (SegmentLog::Place place = applied_;;) {
    SKEP_ASSIGN_OR_RETURN(const SegmentLog::Piece piece, log_->Read(place, options_.slice_bytes));
    if (piece.bytes == 0) return state;
    ApplyEffects(state, piece.effects);
    place = piece.next;
  }
}

absl::Status LogStore::Append(const Effects& effects) {
  SKEP_RETURN_IF_ERROR(broken_);
  if (effects.empty()) return absl::OkStatus();
  if (tables_are_broken_.load()) {
    absl::MutexLock lock(&tables_mutex_);
    broken_ = tables_broken_;
    return broken_;
  }
  SKEP_RETURN_IF_ERROR(record_.Encode(effects));
  SKEP_RETURN_IF_ERROR(MakeRoom(record_.size()));
  absl::Status status = log_->Append(record_);
  if (ReasonOf(status) == ErrorReason::kOutcomeUnknown) {
    log_broken_.store(true);
    broken_ = status;
  }
  if (status.ok()) Schedule();
  return status;
}

MetaStore::Lag LogStore::TablesLag() const {
  absl::MutexLock lock(&lag_mutex_);
  return {log_->backlog(), options_.backlog_bytes, lag_cause_, lag_since_};
}

// Rather than to wait for the other thread, the tables are brought on here: whoever holds them is
// waited for by that.
absl::Status LogStore::MakeRoom(int64_t bytes) {
  while (log_->backlog() > 0 && log_->backlog() + bytes > options_.backlog_bytes) {
    const absl::StatusOr<bool> applied = ApplySlice();
    if (!applied.ok()) {
      return Annotate(applied.status(), "the tables cannot follow the log, and the log is full");
    }
  }
  return absl::OkStatus();
}

void LogStore::Schedule() {
  const Scheduled wanted = log_->backlog() >= options_.apply_soon_bytes ? kSoon : kAfterDelay;
  int scheduled = scheduled_.load();
  while (scheduled < wanted) {
    if (!scheduled_.compare_exchange_weak(scheduled, wanted)) continue;
    ScheduleIn(wanted,
               wanted == kSoon ? std::chrono::nanoseconds(0)
                               : std::chrono::nanoseconds(options_.apply_delay));
    return;
  }
}

void LogStore::ScheduleIn(Scheduled kind, std::chrono::nanoseconds delay) {
  const MonoTime when = clock_.MonoNow() + delay;
  absl::MutexLock lock(&timers_mutex_);
  executor_->Cancel(timers_[kind]);
  timers_[kind] = executor_->PostAt(when, [this] { Follow(); });
}

void LogStore::Follow() {
  scheduled_.store(kNot);
  for (bool more = true; more;) {
    if (log_broken_.load()) return;
    const absl::StatusOr<bool> applied = ApplySlice();
    if (!applied.ok()) {
      const bool may_pass = MayPass(applied.status());
      Log(may_pass ? LogLevel::kWarn : LogLevel::kCritical,
          "store.apply_failed",
          {{"backlog", log_->backlog()}, {"error", MessageOf(applied.status())}});
      int none = kNot;
      if (may_pass && scheduled_.compare_exchange_strong(none, kAfterDelay)) {
        ScheduleIn(kAfterDelay, kRetry);
      }
      return;
    }
    more = *applied;
  }
  absl::MutexLock lock(&tables_mutex_);
  tables_->Idle();
}

absl::StatusOr<bool> LogStore::ApplySlice() {
  absl::MutexLock lock(&tables_mutex_);
  absl::StatusOr<bool> applied = ApplyHeld();
  absl::MutexLock hold(&lag_mutex_);
  if (lag_cause_.ok() && !applied.ok()) lag_since_ = clock_.Now();
  lag_cause_ = applied.status();
  return applied;
}

absl::StatusOr<bool> LogStore::ApplyHeld() {
  SKEP_RETURN_IF_ERROR(tables_broken_);
  absl::StatusOr<SegmentLog::Piece> piece = log_->Read(applied_, options_.slice_bytes);
  absl::Status status = piece.status();
  if (status.ok()) {
    if (piece->bytes == 0) return false;
    status = tables_->Append(piece->effects);
  }
  if (!status.ok()) {
    if (!MayPass(status)) {
      tables_broken_ = status;
      tables_are_broken_.store(true);
    }
    return status;
  }
  applied_ = piece->next;
  // The transaction was synced: from here on the tables hold what is released.
  log_->Release(applied_);
  return true;
}

absl::Status LogStore::Drain() {
  for (;;) {
    SKEP_ASSIGN_OR_RETURN(const bool more, ApplySlice());
    if (!more) return absl::OkStatus();
  }
}

}  // namespace skep::meta
