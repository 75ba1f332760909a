#pragma once

// The door to Arrow's ORC adapter: nothing it throws or returns passes unnamed.

#include <cstdint>
#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <arrow/type_fwd.h>

#include "storage/format/orc/stripe_view.h"

namespace skep::orc {

// The rows of one stripe view, batch by batch. Confined to one thread.
class AdapterStream {
 public:
  // Errors: kCorruptFile where the adapter cannot read the view.
  static absl::StatusOr<std::unique_ptr<AdapterStream>> Open(std::shared_ptr<StripeView> view,
                                                             const std::string& path,
                                                             int64_t batch_rows);
  ~AdapterStream();

  // nullptr at the end.
  absl::StatusOr<std::shared_ptr<arrow::RecordBatch>> Next();

 private:
  struct State;
  explicit AdapterStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace skep::orc
