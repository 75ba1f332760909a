#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include "storage/base/random.h"
#include "storage/fs/file_system.h"
#include "storage/fs/in_place_file.h"
#include "storage/meta/log/record.h"
#include "storage/meta/log/segment.h"

namespace skep::meta {

// The log of units in segment files. One thread appends; another one reads what was appended, and
// takes away and makes segments.
//
//   released … │ read place … appended │ room     the segments in use, the last one is written
//   next                                          made beforehand, named and synced, without
//   records
//
// Segments are full of zeros, or of an earlier life, before they are written, so that a sync of a
// unit has data to carry and nothing else.
class SegmentLog {
 public:
  struct Options {
    std::string store_path;
    uint64_t store_id = 0;
    uint64_t first_number = 1;  // above every segment that is there
    CommitSeq last;             // the newest unit that is in the tables
    int64_t first_bytes = int64_t{256} << 10;
    int64_t largest_bytes = int64_t{4} << 20;  // each is four times the one before, up to this
  };
  struct Ports {
    fs::FileSystem* fs = nullptr;
    fs::InPlaceFiles* files = nullptr;
    Random* random = nullptr;
  };
  // A place between two records.
  struct Place {
    uint64_t segment = 0;
    int64_t offset = 0;
  };
  // The effects of whole units, in order, and where the next one begins.
  struct Piece {
    Effects effects;
    Place next;
    int64_t bytes = 0;
  };

  // Makes the first segment. The ports must outlive the log. Errors: kStoreFull,
  // kStorageUnwritable and what else fs says.
  static absl::StatusOr<std::unique_ptr<SegmentLog>> Create(const Ports& ports,
                                                            const Options& options);

  // -- the thread that appends

  // Writes and syncs. Errors: kStoreFull, with nothing of the unit stored; kOutcomeUnknown, after
  // which every call fails; kInternal for a unit that is not newer than the last; what fs says
  // when a segment cannot be made, with nothing stored.
  absl::Status Append(RecordWriter& record);

  // -- the thread that reads, or another one while it does not

  Place begin() const { return begin_; }
  // About `bytes` of units from `from`, at least one; none at the end. Errors: kCorruptStore.
  absl::StatusOr<Piece> Read(Place from, int64_t bytes) const;
  // Everything before `place` is durable elsewhere: segments that hold nothing else go, or become
  // the next one. Makes the next one where it will be needed soon. Failures are logged: what is
  // missing is made when it is needed.
  void Release(Place place);
  // All segments go. Nothing may be called any more.
  absl::Status RemoveAll();

  // -- any thread

  // Bytes of records that are not released.
  int64_t backlog() const { return appended_.load() - released_.load(); }

 private:
  struct Segment {
    SegmentHeader header;
    std::string path;
    std::unique_ptr<fs::InPlaceFile> file;
    int64_t end = kSegmentHeaderSize;  // of the records; guarded by mutex_
  };

  SegmentLog(const Ports& ports, const Options& options)
      : fs_(*ports.fs),
        files_(*ports.files),
        random_(*ports.random),
        options_(options),
        last_(options.last) {}

  SegmentHeader HeaderOf(uint64_t number, int64_t length);
  absl::StatusOr<std::unique_ptr<Segment>> Make(uint64_t number, int64_t size);
  absl::Status Recycle(Segment& segment, uint64_t number);
  absl::Status MoveTo(const std::string& from, const std::string& to);
  absl::Status Switch(int64_t record_size);
  void PrepareNext(std::unique_ptr<Segment> spare);
  absl::Status GiveUp(const absl::Status& cause);

  fs::FileSystem& fs_;
  fs::InPlaceFiles& files_;
  Random& random_;
  const Options options_;
  Place begin_;

  // The appending thread's.
  Segment* writing_ = nullptr;
  int64_t writing_end_ = kSegmentHeaderSize;
  CommitSeq last_;
  absl::Status broken_;

  std::atomic<int64_t> appended_{0};
  std::atomic<int64_t> released_{0};

  // Held while a segment is made, which is file work: there is one name for what is in the making.
  // Taken before mutex_.
  absl::Mutex making_;
  mutable absl::Mutex mutex_;
  std::deque<std::unique_ptr<Segment>> segments_ ABSL_GUARDED_BY(mutex_);  // the last is written
  std::unique_ptr<Segment> next_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skep::meta
