#pragma once

// One stripe of a file as a small ORC file of its own, for Arrow's adapter: the original bytes up
// to the end of the stripe's streams, followed by a footer of ours that knows the wanted columns
// only, under plain names and in types the adapter reads right.
//
// This is how its faults are kept away: names are f0, f1, … (its look-up is exact-case and takes
// dots for paths); TIMESTAMP becomes LONG, so that seconds come as stored and their fraction is
// read by us; CHAR and VARCHAR become STRING; the root is always a struct; index streams, bloom
// filters, statistics and zones do not exist.

#include <cstdint>
#include <memory>

#include <absl/status/status.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include "storage/format/orc/plan.h"
#include "storage/format/orc/stripe.h"
#include "storage/fs/file_system.h"

namespace skep::orc {

class StripeView final : public arrow::io::RandomAccessFile {
 public:
  // `file` must outlive the view.
  StripeView(const fs::RandomAccessFile& file,
             const Tail& tail,
             const Stripe& stripe,
             const StripeLayout& layout,
             const ReadPlan& plan);

  // The first failure of a read below, with its own reason; OK if there was none.
  const absl::Status& failure() const { return failure_; }

  arrow::Result<int64_t> GetSize() override;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t nbytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t nbytes) override;
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Result<int64_t> Read(int64_t nbytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t nbytes) override;
  arrow::Status Close() override;
  bool closed() const override { return closed_; }

 private:
  const fs::RandomAccessFile* file_;
  int64_t mapped_;  // bytes that are the file's own
  std::string tail_;
  int64_t position_ = 0;
  bool closed_ = false;
  absl::Status failure_;
};

}  // namespace skep::orc
