// Power cuts during a compaction: whatever was not synced is gone, readers see what they saw, a
// retry works.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/compact/clean.h"
#include "storage/compact/job.h"
#include "storage/fs/posix_file_system.h"
#include "tests/storage/compact/acid_files.h"
#include "tests/testing/fault_fs.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::compact {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Txns;
using testing::WriteIds;

// The worked example, written once.
const std::string& Template() {
  static testing::TempDir* const dir = [] {
    auto* made = new testing::TempDir();  // lives as long as the process
    fs::PosixFileSystem posix;
    WriteWorkedExample(posix, made->path());
    return made;
  }();
  return dir->path();
}

class Scenario {
 public:
  explicit Scenario(CompactionType type) : type_(type), faulty_(posix_, attic_.path()) {
    std::filesystem::copy(Template(),
                          root_.path(),
                          std::filesystem::copy_options::recursive |
                              std::filesystem::copy_options::overwrite_existing);
  }

  testing::FaultFs& fs() { return faulty_; }
  CompactionRequest Request(int64_t txn) const {
    CompactionRequest request = RequestFor(root_.path(), type_, txn, "3:::");
    // The compactor's snapshot: its own transaction is open, the first one ended before the second
    // began.
    request.visibility = txn == 7 ? Txns("7:7:7:") : Txns("8:8:8:7");
    return request;
  }
  std::vector<std::string> Rows(const std::string& txns) {
    return ScanRows(faulty_, root_.path(), WriteIds("3:::"), Txns(txns));
  }

  void ExpectRecovery() {
    EXPECT_EQ(Rows("7:7:7:"), before_) << "transaction 7 is still open";
    EXPECT_EQ(Rows("7:::7"), before_) << "transaction 7 was aborted";
    const absl::StatusOr<CompactionResult> retry = RunCompaction(faulty_, Request(8));
    ASSERT_TRUE(retry.ok()) << retry.status().ToString();
    EXPECT_FALSE(retry->outputs.empty());
    EXPECT_EQ(Rows("8:::7"), before_);

    const std::vector<TxnId> ended = {TxnId(7)};
    const auto swept = SweepTemporary(faulty_, root_.path(), ended);
    ASSERT_TRUE(swept.ok() && swept->failed.empty());
    const auto cleaned =
        Clean(faulty_,
              {.directory = root_.path(),
               .obsolete = ObsoleteScope{WriteIds("3:::"), Txns("8:::7"), WriteId(3)},
               .aborted = AbortedScope{WriteIds("3:::"), Txns("8:::7")}});
    ASSERT_TRUE(cleaned.ok()) << cleaned.status().ToString();
    EXPECT_TRUE(cleaned->IsDone());
    EXPECT_EQ(Rows("8:::7"), before_);
    EXPECT_THAT(NamesIn(root_.path()), Not(Contains(HasSubstr("0000007"))));
    EXPECT_THAT(NamesIn(root_.path()), Not(Contains(HasSubstr("skep-tmp"))));
    EXPECT_EQ(NamesIn(root_.path()).size(), retry->outputs.size());
  }

  // After a crash behind the last step the output is durable: the commit may follow.
  void ExpectOutputStands() { EXPECT_EQ(Rows("7:::"), before_); }

 private:
  const CompactionType type_;
  testing::TempDir root_;
  testing::TempDir attic_;
  fs::PosixFileSystem posix_;
  testing::FaultFs faulty_;
  const std::vector<std::string> before_ = {"(2,536870912,0) {\"id\":1,\"status\":\"paid\"}"};
};

// Every call is too many for a test that runs each time; each of the tests below starts at another
// one.
constexpr int kStride = 7;

class CrashTest : public ::testing::TestWithParam<CompactionType> {};

TEST_P(CrashTest, AtAnyStepLeavesInputsReadableAndARetryWorks) {
  const std::vector<std::string_view> steps = {kStepPlanned,
                                               kStepPrepared,
                                               kStepBucketMerged,
                                               kStepSealed,
                                               kStepVerified,
                                               kStepDeleteDeltaInstalled,
                                               kStepInstalled,
                                               kStepTidied};
  for (const std::string_view step : steps) {
    SCOPED_TRACE(step);
    Scenario scenario(GetParam());
    bool reached = false;
    CompactionRequest request = scenario.Request(7);
    request.at_step = [&](std::string_view now) {
      if (now != step) return;
      reached = true;
      scenario.fs().Crash();
    };
    const auto result = RunCompaction(scenario.fs(), request);
    scenario.fs().Restart();
    EXPECT_EQ(reached, step != kStepDeleteDeltaInstalled || GetParam() == CompactionType::kMinor);
    if (!reached) continue;
    // Behind the last rename nothing can fail any more; before it everything must.
    EXPECT_EQ(result.ok(), step == kStepInstalled || step == kStepTidied);
    if (result.ok()) scenario.ExpectOutputStands();
    scenario.ExpectRecovery();
  }
}

TEST_P(CrashTest, AtAnyCallLeavesInputsReadableAndARetryWorks) {
  for (int nth = GetParam() == CompactionType::kMajor ? 1 : 3;; nth += kStride) {
    SCOPED_TRACE(nth);
    Scenario scenario(GetParam());
    scenario.fs().FailAnyCall(
        nth, absl::InternalError("power off"), testing::FaultSpan::kFromThere);
    const auto result = RunCompaction(scenario.fs(), scenario.Request(7));
    const bool fired = scenario.fs().Fired();
    scenario.fs().Heal();
    scenario.fs().Crash();
    scenario.fs().Restart();
    if (result.ok()) scenario.ExpectOutputStands();
    scenario.ExpectRecovery();
    if (::testing::Test::HasFailure()) return;
    if (!fired) {
      EXPECT_TRUE(result.ok());
      EXPECT_GT(nth, 30);
      break;
    }
  }
}

// One failing call, no crash: the compaction fails or does without.
TEST_P(CrashTest, OneFailingCallIsSurvived) {
  for (int nth = GetParam() == CompactionType::kMajor ? 2 : 5;; nth += kStride) {
    SCOPED_TRACE(nth);
    Scenario scenario(GetParam());
    scenario.fs().FailAnyCall(nth, absl::UnavailableError("stale handle"));
    const auto result = RunCompaction(scenario.fs(), scenario.Request(7));
    const bool fired = scenario.fs().Fired();
    scenario.fs().Heal();
    if (result.ok()) scenario.ExpectOutputStands();
    scenario.ExpectRecovery();
    if (::testing::Test::HasFailure()) return;
    if (!fired) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Types,
                         CrashTest,
                         ::testing::Values(CompactionType::kMajor, CompactionType::kMinor),
                         [](const auto& info) {
                           return std::string(CompactionTypeName(info.param));
                         });

}  // namespace
}  // namespace skep::compact
