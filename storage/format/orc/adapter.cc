#include "storage/format/orc/adapter.h"

#include <exception>
#include <functional>
#include <utility>

#include <arrow/adapters/orc/adapter.h>
#include <arrow/record_batch.h>

#include "storage/base/status_macros.h"
#include "storage/format/orc/errors.h"
#include "storage/model/errors.h"

namespace skep::orc {

namespace {

// What the adapter says about bytes it cannot read is damage of the file, unless the read itself
// failed.
absl::Status Explain(const arrow::Status& status, const StripeView& view, const std::string& path) {
  if (!view.failure().ok()) return AtFile(view.failure(), path, 0);
  if (status.IsNotImplemented()) return UnsupportedFile(path, status.message());
  return MakeError(ErrorReason::kCorruptFile,
                   path + ": rows cannot be decoded: " + status.message(),
                   {{"path", path}});
}

template <class T>
arrow::Result<T> Guarded(const std::function<arrow::Result<T>()>& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return arrow::Status::Invalid(error.what());
  } catch (...) {
    return arrow::Status::Invalid("unknown exception");
  }
}

}  // namespace

struct AdapterStream::State {
  std::shared_ptr<StripeView> view;  // shared with the adapter
  std::string path;
  std::unique_ptr<arrow::adapters::orc::ORCFileReader> reader;
  std::shared_ptr<arrow::RecordBatchReader> batches;
};

AdapterStream::AdapterStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
AdapterStream::~AdapterStream() = default;

absl::StatusOr<std::unique_ptr<AdapterStream>> AdapterStream::Open(std::shared_ptr<StripeView> view,
                                                                   const std::string& path,
                                                                   int64_t batch_rows) {
  using arrow::adapters::orc::ORCFileReader;
  auto state = std::make_unique<State>();
  state->view = std::move(view);
  state->path = path;
  auto reader = Guarded<std::unique_ptr<ORCFileReader>>(
      [&] { return ORCFileReader::Open(state->view, arrow::default_memory_pool()); });
  if (!reader.ok()) return Explain(reader.status(), *state->view, path);
  state->reader = std::move(reader).ValueUnsafe();
  auto batches = Guarded<std::shared_ptr<arrow::RecordBatchReader>>(
      [&] { return state->reader->GetRecordBatchReader(batch_rows, std::vector<std::string>()); });
  if (!batches.ok()) return Explain(batches.status(), *state->view, path);
  state->batches = std::move(batches).ValueUnsafe();
  return std::unique_ptr<AdapterStream>(new AdapterStream(std::move(state)));
}

absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> AdapterStream::Next() {
  auto batch =
      Guarded<std::shared_ptr<arrow::RecordBatch>>([&] { return state_->batches->Next(); });
  if (!batch.ok()) return Explain(batch.status(), *state_->view, state_->path);
  return std::move(batch).ValueUnsafe();
}

}  // namespace skep::orc
