#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <absl/status/status.h>

namespace skep::state {

// How many transactions may be open. Once the limit was met, opens are refused until fewer than 90
// % of it are open (OPN-5), so that a full server does not flap. Value type.
class OpenLimit {
 public:
  explicit OpenLimit(int64_t limit) : limit_(limit) {}

  // Errors: kTooManyOpenTxns naming the limit, the number open and who holds most.
  absl::Status Admit(int64_t count);
  void Opened(const std::string& user);
  void Ended(const std::string& user);

 private:
  std::string TopHolders() const;

  int64_t limit_;
  int64_t open_ = 0;
  bool tripped_ = false;
  std::map<std::string, int64_t> by_user_;
};

}  // namespace skep::state
