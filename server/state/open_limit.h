#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <absl/status/status.h>

namespace skep::state {

// How many transactions may be open, in all and of one user. Once the limit of all was met, opens
// are refused until fewer than 90 % of it are open (OPN-5), so that a full server does not flap.
// Value type.
class OpenLimit {
 public:
  // `per_user` 0: no limit for one user but that of all.
  OpenLimit(int64_t limit, int64_t per_user) : limit_(limit), per_user_(per_user) {}

  // Errors: kTooManyOpenTxns naming the limit, the number open and who holds most.
  absl::Status Admit(const std::string& user, int64_t count);
  void Opened(const std::string& user);
  void Ended(const std::string& user);

 private:
  int64_t OpenOf(const std::string& user) const;
  std::string TopHolders() const;

  int64_t limit_;
  int64_t per_user_;
  int64_t open_ = 0;
  bool tripped_ = false;
  std::map<std::string, int64_t> by_user_;
};

}  // namespace skep::state
