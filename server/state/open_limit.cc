#include "server/state/open_limit.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "storage/model/errors.h"

namespace skep::state {

absl::Status OpenLimit::Admit(const std::string& user, int64_t count) {
  const int64_t own = OpenOf(user);
  if (per_user_ > 0 && own + count > per_user_) {
    return MakeError(
        ErrorReason::kTooManyOpenTxns,
        fmt::format("{} has {} open transactions and the limit of one user is {} ({} asked for): "
                    "end some (`skepctl show transactions --user {}`) and try again later",
                    user,
                    own,
                    per_user_,
                    count,
                    user),
        {{"limit", std::to_string(per_user_)},
         {"open", std::to_string(own)},
         {"user", user},
         {"holders", TopHolders()}});
  }
  if (tripped_ && open_ < limit_ - limit_ / 10) tripped_ = false;
  if (!tripped_ && open_ + count <= limit_) return absl::OkStatus();
  if (open_ >= limit_) tripped_ = true;
  const std::string holders = TopHolders();
  return MakeError(
      ErrorReason::kTooManyOpenTxns,
      fmt::format(
          "{} transactions are open and the limit is {}; opens are refused {}; most are held "
          "by {}: end some (`skepctl show transactions`) and try again later",
          open_,
          limit_,
          tripped_ ? "until fewer than 90 % of it are open"
                   : fmt::format("that would exceed it ({} asked for)", count),
          holders),
      {{"limit", std::to_string(limit_)}, {"open", std::to_string(open_)}, {"holders", holders}});
}

void OpenLimit::Opened(const std::string& user) {
  ++open_;
  ++by_user_[user];
}

void OpenLimit::Ended(const std::string& user) {
  --open_;
  const auto it = by_user_.find(user);
  if (it != by_user_.end() && --it->second == 0) by_user_.erase(it);
}

int64_t OpenLimit::OpenOf(const std::string& user) const {
  const auto it = by_user_.find(user);
  return it == by_user_.end() ? 0 : it->second;
}

std::string OpenLimit::TopHolders() const {
  constexpr size_t kShown = 3;
  std::vector<std::pair<int64_t, std::string>> top;
  for (const auto& [user, count] : by_user_) top.emplace_back(count, user);
  const size_t shown = std::min(kShown, top.size());
  std::partial_sort(top.begin(), top.begin() + shown, top.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += ", ";
    text += fmt::format("{} ({})", top[i].second.empty() ? "nobody" : top[i].second, top[i].first);
  }
  return text.empty() ? "nobody" : text;
}

}  // namespace skep::state
