#include "client/session/session_beats.h"

#include <utility>

namespace skep::client {
namespace {

constexpr int kLeftPerBeat = 10'000;  // the server's limit

}  // namespace

void SessionBeats::Opened(int64_t first, int64_t count) {
  for (int64_t txn = first; txn < first + count; ++txn) kept_.insert(txn);
}

void SessionBeats::Forget() {
  kept_.clear();
  leaving_.clear();
}

std::vector<std::shared_ptr<const SessionBeats::Beat>> SessionBeats::Shorten(
    const std::vector<const Beat*>& beats) {
  absl::flat_hash_set<int64_t> named;
  for (const Beat* beat : beats) named.insert(beat->txn_ids().begin(), beat->txn_ids().end());
  for (const int64_t txn : std::exchange(kept_, {})) {
    (named.contains(txn) ? kept_ : leaving_).insert(txn);
  }
  std::vector<std::shared_ptr<const Beat>> shortened;
  for (const Beat* beat : beats) {
    auto shorter = std::make_shared<Beat>();
    for (const int64_t txn : beat->txn_ids()) {
      if (!kept_.contains(txn)) shorter->add_txn_ids(txn);
    }
    *shorter->mutable_lock_ids() = beat->lock_ids();
    if (shortened.empty()) {
      shorter->set_session(!kept_.empty() || !leaving_.empty());
      for (const int64_t txn : leaving_) {
        if (shorter->left_txn_ids_size() < kLeftPerBeat) shorter->add_left_txn_ids(txn);
      }
    }
    shortened.push_back(std::move(shorter));
  }
  return shortened;
}

void SessionBeats::Answered(const Beat& sent) {
  for (const int64_t txn : sent.left_txn_ids()) leaving_.erase(txn);
}

}  // namespace skep::client
