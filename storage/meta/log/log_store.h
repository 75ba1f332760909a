#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include "storage/base/clock.h"
#include "storage/base/executor.h"
#include "storage/base/random.h"
#include "storage/base/thread_executor.h"
#include "storage/fs/posix_file_system.h"
#include "storage/fs/posix_in_place_file.h"
#include "storage/meta/log/record.h"
#include "storage/meta/log/segment_log.h"
#include "storage/meta/meta_store.h"
#include "storage/meta/sqlite/sqlite_store.h"

namespace skep::meta {

struct LogStoreOptions {
  SqliteOptions tables;
  // Where the tables follow: one thread at a time. nullptr: a thread of the store's own.
  Executor* executor = nullptr;
  Clock* clock = nullptr;    // nullptr: the system's
  Random* random = nullptr;  // nullptr: the system's
  // For the files of the log; nullptr: the system's.
  fs::FileSystem* fs = nullptr;
  fs::InPlaceFiles* in_place_files = nullptr;
  int64_t first_segment_bytes = int64_t{256} << 10;  // little to write at a start
  int64_t largest_segment_bytes = int64_t{4} << 20;
  // The tables follow so long after a unit, sooner where so much waits. The longer the wait, the
  // more cancels out before it is written.
  std::chrono::milliseconds apply_delay{100};
  int64_t apply_soon_bytes = int64_t{1} << 20;
  int64_t slice_bytes = int64_t{256} << 10;  // of the log that go into one transaction
  // A unit is refused, or waits for the tables, when so much of the log is not in them.
  int64_t backlog_bytes = int64_t{64} << 20;
  // Room on the disk that OpenStore keeps for what ends things (ReservedStore); 0: none.
  int64_t reserve_bytes = 0;
};

// The store as a log with tables behind it: Append writes one record and syncs it; the tables
// (SqliteStore) follow by the net effect of many units, on another thread. counters.seq says which
// unit they show.
//
// Confined to one thread at a time, but for what runs on the executor. To be destroyed when none of
// its tasks runs, on the executor's thread if it has one for more than this.
//
// After kOutcomeUnknown or kCorruptStore every call fails and no unit is written any more, not even
// on destruction: the next start finds out what the files hold. Otherwise destruction brings the
// tables up to date and removes the log; where it cannot (a full disk), the log stays for the next
// start.
class LogStore final : public MetaStore {
 public:
  // Opens the tables and puts into them what is in the log only; begins a new log. Errors: those of
  // SqliteStore::Open, CheckSegments, RecoverLog.
  static absl::StatusOr<std::unique_ptr<LogStore>> Open(const LogStoreOptions& options);
  ~LogStore() override;

  absl::StatusOr<StoredState> Load() override;
  // Beyond the port's errors: kInternal for a unit that cannot be stored, with nothing of it
  // stored.
  absl::Status Append(const Effects& effects) override;
  bool HasRoom() override { return true; }
  void Idle() override {}
  Lag TablesLag() const override ABSL_LOCKS_EXCLUDED(lag_mutex_);

 private:
  enum Scheduled : int { kNot, kAfterDelay, kSoon };

  LogStore(const LogStoreOptions& options, std::unique_ptr<SqliteStore> tables);
  absl::Status MakeRoom(int64_t bytes);
  void Schedule();
  void ScheduleIn(Scheduled kind, std::chrono::nanoseconds delay)
      ABSL_LOCKS_EXCLUDED(timers_mutex_);
  void Follow();
  // Brings about slice_bytes of the log into the tables. False: there was nothing.
  absl::StatusOr<bool> ApplySlice() ABSL_LOCKS_EXCLUDED(tables_mutex_);
  absl::StatusOr<bool> ApplyHeld() ABSL_EXCLUSIVE_LOCKS_REQUIRED(tables_mutex_);
  absl::Status Drain();

  const LogStoreOptions options_;
  SystemClock system_clock_;
  SystemRandom system_random_;
  fs::PosixFileSystem system_fs_;
  fs::PosixInPlaceFiles system_files_;
  Clock& clock_;

  // Held while the tables are written or read, which is file work: they have one connection, and
  // the appending thread comes here only when it must wait for them anyway.
  absl::Mutex tables_mutex_;
  const std::unique_ptr<SqliteStore> tables_;
  SegmentLog::Place applied_ ABSL_GUARDED_BY(tables_mutex_);
  absl::Status tables_broken_ ABSL_GUARDED_BY(tables_mutex_);

  // What the last slice said. Taken while tables_mutex_ is held, or alone; never for long, so the
  // appending thread may ask.
  mutable absl::Mutex lag_mutex_ ABSL_ACQUIRED_AFTER(tables_mutex_);
  absl::Status lag_cause_ ABSL_GUARDED_BY(lag_mutex_);
  Timestamp lag_since_ ABSL_GUARDED_BY(lag_mutex_){};

  std::unique_ptr<SegmentLog> log_;
  RecordWriter record_;
  absl::Status broken_;  // the appending thread's
  std::atomic<bool> log_broken_{false};
  std::atomic<bool> tables_are_broken_{false};

  std::atomic<int> scheduled_{kNot};
  Executor* executor_ = nullptr;
  absl::Mutex timers_mutex_;
  Executor::TimerId timers_[3] ABSL_GUARDED_BY(timers_mutex_) = {};  // by Scheduled; 0 none
  std::unique_ptr<ThreadExecutor> own_executor_;
};

}  // namespace skep::meta
