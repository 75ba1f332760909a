#include "server/loop/session_ledger.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "storage/base/check.h"
#include "storage/model/errors.h"

namespace skep::loop {
namespace {

absl::Status Bad(std::string_view field, std::string what) {
  return MakeError(ErrorReason::kInvalidRequest, what, {{"field", std::string(field)}});
}

absl::Status Unread(std::string_view what, int64_t limit) {
  return MakeError(ErrorReason::kOverloaded,
                   fmt::format("{} {} of this session are not acknowledged: read them, say so in "
                               "the next message, and mind the credit of the welcome",
                               limit,
                               what),
                   {{"limit", std::to_string(limit)}});
}

}  // namespace

absl::StatusOr<SessionLedger::Taken> SessionLedger::Take(int64_t number,
                                                         int64_t bytes,
                                                         bool needs_credit) {
  const int64_t next = next_number();
  if (number < 1 || number > next) {
    return Bad("operations.number",
               fmt::format("operation {} cannot come now: {} is the next one", number, next));
  }
  if (number < next) return Taken::kRepeat;
  const int64_t most = limits_.operations * limits_.slack;
  if (unacknowledged() >= most) return Unread("operations", most);
  Slot& slot = slots_.emplace_back();
  ++pending_;
  if (!needs_credit) return Taken::kRun;
  // One operation at least goes through, whatever its size.
  const bool too_many = credit_operations_ >= limits_.operations;
  const bool too_large = credit_operations_ > 0 && credit_bytes_ + bytes > limits_.bytes;
  if (too_many || too_large) return Taken::kNoCredit;
  slot.credit = true;
  slot.bytes = static_cast<int32_t>(bytes);
  ++credit_operations_;
  credit_bytes_ += bytes;
  return Taken::kRun;
}

void SessionLedger::Answer(int64_t number, std::string answer) {
  Slot& slot = At(number);
  SKEP_CHECK(!slot.answered);
  slot.answered = true;
  slot.answer = std::move(answer);
  --pending_;
  unsent_.push_back(number);
  unsent_bytes_ += std::ssize(slot.answer);
}

absl::Status SessionLedger::CheckSeen(int64_t number) {
  if (number >= next_number() || (number >= first_ && !At(number).answered)) {
    return Bad("answered_above",
               fmt::format("operation {} cannot have been seen answered: it was not", number));
  }
  return absl::OkStatus();
}

void SessionLedger::Forget(int64_t number) {
  Slot& slot = At(number);
  if (slot.acknowledged) return;
  slot.acknowledged = true;
  ++acknowledged_;
  if (slot.credit) {
    --credit_operations_;
    credit_bytes_ -= slot.bytes;
  }
  if (!slot.sent) unsent_bytes_ -= std::ssize(slot.answer);
  std::string().swap(slot.answer);
  if (!failures_.empty()) failures_.erase(number);
}

absl::Status SessionLedger::Acknowledge(int64_t below, const std::vector<int64_t>& above) {
  if (below < 0 || below > next_number()) {
    return Bad("answered_below",
               fmt::format("{} is above the next number {}", below, next_number()));
  }
  for (int64_t number = first_; number < below; ++number) {
    if (!At(number).answered) {
      return Bad("answered_below", fmt::format("operation {} was not answered yet", number));
    }
  }
  for (const int64_t number : above) {
    const absl::Status seen =
        number < 1 ? Bad("answered_above", "numbers begin at 1") : CheckSeen(number);
    if (!seen.ok()) return seen;
  }
  for (int64_t number = first_; number < below; ++number) Forget(number);
  for (const int64_t number : above) {
    if (number >= first_) Forget(number);
  }
  std::erase_if(unsent_, [this](int64_t number) { return At(number).acknowledged; });
  while (!slots_.empty() && slots_.front().acknowledged) {
    slots_.pop_front();
    ++first_;
    --acknowledged_;
  }
  return absl::OkStatus();
}

absl::Status SessionLedger::AddNotice(std::string notice) {
  if (std::ssize(notices_) >= limits_.notices) return Unread("notices", limits_.notices);
  unsent_bytes_ += std::ssize(notice);
  notices_.push_back(std::move(notice));
  return absl::OkStatus();
}

absl::Status SessionLedger::AcknowledgeNotices(int64_t below) {
  if (below < 0 || below > notices_sent_below_) {
    return Bad("notices_below", fmt::format("notice {} was not sent yet", below - 1));
  }
  while (first_notice_ < below) {
    if (sent_notices_ > 0) {
      --sent_notices_;
    } else {
      unsent_bytes_ -= std::ssize(notices_.front());  // seen on an earlier stream
    }
    notices_.pop_front();
    ++first_notice_;
  }
  return absl::OkStatus();
}

void SessionLedger::SendAgain() {
  unsent_.clear();
  unsent_bytes_ = 0;
  for (int64_t number = first_; number < next_number(); ++number) {
    Slot& slot = At(number);
    if (!slot.answered || slot.acknowledged) continue;
    slot.sent = false;
    unsent_.push_back(number);
    unsent_bytes_ += std::ssize(slot.answer);
  }
  sent_notices_ = 0;
  for (const std::string& notice : notices_) unsent_bytes_ += std::ssize(notice);
}

SessionLedger::Output SessionLedger::TakeOutput(int64_t max_bytes) {
  Output output;
  int64_t bytes = 0;
  const auto fits = [&](const std::string& text) {
    if (bytes > 0 && bytes + std::ssize(text) > max_bytes) return false;
    bytes += std::max<int64_t>(std::ssize(text), 1);
    unsent_bytes_ -= std::ssize(text);
    return true;
  };
  size_t taken = 0;
  for (; taken < unsent_.size(); ++taken) {
    Slot& slot = At(unsent_[taken]);
    if (!fits(slot.answer)) break;
    slot.sent = true;
    output.answers.push_back(slot.answer);
  }
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(taken));
  // A notice may be about an operation whose answer says that it waits: that one goes first.
  while (unsent_.empty() && sent_notices_ < std::ssize(notices_)) {
    const std::string& notice = notices_[static_cast<size_t>(sent_notices_)];
    if (!fits(notice)) break;
    output.notices.push_back(notice);
    ++sent_notices_;
  }
  notices_sent_below_ = std::max(notices_sent_below_, first_notice_ + sent_notices_);
  return output;
}

void SessionLedger::NoteFailure(int64_t number, std::string what, const std::vector<TxnId>& txns) {
  if (!txns.empty()) failures_[number] = {std::move(what), txns};
}

std::string SessionLedger::FailureOf(TxnId txn) const {
  for (const auto& [number, failure] : failures_) {
    if (std::find(failure.txns.begin(), failure.txns.end(), txn) == failure.txns.end()) continue;
    return fmt::format("operation {} ({})", number, failure.what);
  }
  return {};
}

}  // namespace skep::loop
