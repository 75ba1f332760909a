// A warehouse that is read-only, a warehouse that is full, a store that is full: what cannot be
// done is refused by name, what was acknowledged stays, and with space again all goes on.

#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "storage/base/text.h"
#include "tests/e2e/bad_input.h"
#include "tests/testing/status_matchers.h"

namespace skep::e2e {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOk;
using ::testing::HasSubstr;

// A filesystem of its own on `dir`, in memory, as small as asked for.
class SmallDisk {
 public:
  SmallDisk(std::string dir, int kib) : dir_(std::move(dir)) {
    std::filesystem::create_directories(dir_);
    const std::string options = "size=" + std::to_string(kib) + "k";
    mounted_ = ::mount("skep-test", dir_.c_str(), "tmpfs", 0, options.c_str()) == 0;
    error_ = mounted_ ? 0 : errno;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(dir_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  std::string why() const {
    return "mounting is not permitted here: " + std::string(strerror(error_));
  }

  // Takes all space but about `left` bytes.
  void Fill(int64_t left = 0) {
    Empty();
    std::error_code error;
    const auto space = std::filesystem::space(dir_, error);
    std::ofstream file(dir_ + "/.fill", std::ios::binary);
    const std::string block(4096, 'x');
    for (int64_t n = (static_cast<int64_t>(space.available) - left) / 4096; n > 0; --n)
      file << block;
  }
  void Empty() { std::filesystem::remove(dir_ + "/.fill"); }
  bool SetReadOnly(bool read_only) {
    return ::mount(
               nullptr, dir_.c_str(), nullptr, MS_REMOUNT | (read_only ? MS_RDONLY : 0), nullptr) ==
           0;
  }

 private:
  const std::string dir_;
  bool mounted_ = false;
  int error_ = 0;
};

class BadStorage : public BadInputTest {
 protected:
  void SetUp() override {
    if (!warehouse_.mounted() || !store_.mounted()) GTEST_SKIP() << warehouse_.why();
    BadInputTest::SetUp();
  }
  void ExpectCompacts(const std::string& what) {
    const Finished compact = daemon_.Tool({"compact", what, "--type", "major", "--wait"});
    EXPECT_EQ(compact.exit_code, 0) << compact.out << compact.err << daemon_.Log();
  }

  SmallDisk warehouse_{daemon_.warehouse(), 1024};
  SmallDisk store_{std::filesystem::path(daemon_.store()).parent_path(), 8192};
};

TEST_F(BadStorage, AReadOnlyWarehouse) {
  ASSERT_TRUE(warehouse_.SetReadOnly(true));
  const absl::Status refused = Insert({"d", "full"}, "p=1", 10);
  EXPECT_THAT(refused, HasReason(ErrorReason::kStorageUnwritable));
  EXPECT_EQ(MetadataOf(refused)["errno"], "EROFS");
  EXPECT_THAT(refused, HasMessage(HasSubstr("d.db/full/p=1")));
  ExpectToolRefused(
      {"create", "table", "d.new", "--columns", "a int"}, 4, "STORAGE_UNWRITABLE: cannot create");
  const Finished compact = daemon_.Tool({"compact", "d.full", "--type", "major", "--wait"});
  EXPECT_EQ(compact.exit_code, 1);
  EXPECT_THAT(compact.out + compact.err, HasSubstr("EROFS"));
  EXPECT_NE(Read("d.full"), "") << "reading goes on";
  ASSERT_TRUE(warehouse_.SetReadOnly(false));
  ExpectCompacts("d.full");
}

TEST_F(BadStorage, AWarehouseThatIsFullDuringAWrite) {
  ASSERT_EQ(daemon_.Tool({"create", "table", "e.t", "--columns", "id bigint"}).exit_code, 0);
  int acknowledged = 0;
  for (int64_t left = 64 << 10; left >= 0; left -= 4096) {
    warehouse_.Fill(left);
    const absl::Status written = Insert({"e", "t"}, "", 2000);
    if (written.ok()) {
      ++acknowledged;
      continue;
    }
    EXPECT_THAT(written, HasReason(ErrorReason::kStorageUnwritable)) << left;
    EXPECT_EQ(MetadataOf(written)["errno"], "ENOSPC");
    EXPECT_THAT(written, HasMessage(HasSubstr("free space")));
  }
  EXPECT_THAT(Insert({"e", "t"}, "", 2000), HasReason(ErrorReason::kStorageUnwritable));
  const auto rows = [&] { return SplitText(Read("e.t"), '\n').size() - 1; };
  EXPECT_EQ(rows(), 2000u * acknowledged) << "what was refused is not there, the rest is";
  warehouse_.Empty();
  EXPECT_THAT(Insert({"e", "t"}, "", 2000), IsOk());
  ExpectCompacts("e.t");
  EXPECT_EQ(rows(), 2000u * (acknowledged + 1));
}

TEST_F(BadStorage, AWarehouseThatIsFullDuringACompaction) {
  ASSERT_EQ(daemon_.Tool({"create", "table", "e.t", "--columns", "id bigint"}).exit_code, 0);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(Insert({"e", "t"}, "", 2000), IsOk());
  const std::string rows = Read("e.t");
  for (int64_t left = 0; left <= 12 << 10; left += 4096) {
    SCOPED_TRACE(left);
    warehouse_.Fill(left);
    const Finished compact = daemon_.Tool({"compact", "e.t", "--type", "major", "--wait"});
    if (compact.exit_code != 0) {
      EXPECT_EQ(compact.exit_code, 1);
      EXPECT_THAT(compact.out + compact.err, HasSubstr("ENOSPC"));
    }
    EXPECT_TRUE(Read("e.t") == rows) << "the same rows, whatever became of the compaction";
  }
  warehouse_.Empty();
  ExpectCompacts("e.t");
  EXPECT_TRUE(Read("e.t") == rows);
}

// At each fill the next unit, or one soon after, does not fit. The daemon refuses it and goes on,
// or it ends where the outcome is unknown (74) and a restart decides.
TEST_F(BadStorage, AStoreThatIsFullDuringACommit) {
  std::vector<std::string> acknowledged;
  int refused = 0;
  for (int64_t left = 96 << 10; left >= 0; left -= 8192) {
    SCOPED_TRACE(left);
    store_.Fill(left);
    for (int i = 0; i < 40; ++i) {
      const std::string name = "t" + std::to_string(left) + "_" + std::to_string(i);
      const Finished made = daemon_.Tool({"create",
                                          "table",
                                          "e." + name,
                                          "--columns",
                                          "a int",
                                          "--set",
                                          "note=" + std::string(3000, 'x')});
      if (made.exit_code == 0) {
        acknowledged.push_back("e." + name);
        continue;
      }
      ++refused;
      if (daemon_.Running()) {
        EXPECT_EQ(made.exit_code, 6) << made.err;
        EXPECT_THAT(made.err, HasSubstr("STORE_FULL: "));
        EXPECT_THAT(made.err, HasSubstr("free space"));
        EXPECT_EQ(daemon_.Tool({"show", "table", "d.full"}).exit_code, 0) << "answers go on";
      } else {
        EXPECT_EQ(daemon_.exit_code(), 74) << daemon_.Log();
      }
      break;
    }
    store_.Empty();
    if (!daemon_.Running()) {
      ASSERT_TRUE(daemon_.Start()) << daemon_.Log();
    }
  }
  // How often depends on what is preallocated; that it happened is what makes the rest a proof.
  EXPECT_GT(refused, 2);
  EXPECT_THAT(Insert({"e", "t0_none"}, "", 1), HasReason(ErrorReason::kNoSuchTable));
  ASSERT_EQ(daemon_.Tool({"create", "table", "e.last", "--columns", "id bigint"}).exit_code, 0);
  acknowledged.push_back("e.last");
  EXPECT_THAT(Insert({"e", "last"}, "", 1), IsOk());
  daemon_.Kill();
  ASSERT_TRUE(daemon_.Start()) << daemon_.Log();
  const std::string there = "\n" + daemon_.Tool({"show", "tables", "e", "-o", "name"}).out;
  for (const std::string& name : acknowledged) EXPECT_THAT(there, HasSubstr("\n" + name + "\n"));
  EXPECT_EQ(SplitText(there, '\n').size(), acknowledged.size() + 2) << "nothing that was refused";
  EXPECT_THAT(Read("e.last"), HasSubstr("\"writeid\":1,"));
}

// What is open can end, whatever the disk; what would begin waits for room.
TEST_F(BadStorage, AStoreThatIsFullLetsTransactionsEnd) {
  std::vector<std::unique_ptr<client::Transaction>> open;
  for (int i = 0; i < 8; ++i) {
    auto txn = session_->Begin();
    ASSERT_THAT(txn, IsOk());
    open.push_back(*std::move(txn));
  }
  store_.Fill();
  absl::Status refused;
  for (int i = 0; i < 2'000 && refused.ok(); ++i) {
    auto txn = session_->Begin({.agent = std::string(1'000, 'x')});
    refused = txn.status();
    if (txn.ok()) open.push_back(*std::move(txn));
  }
  EXPECT_THAT(refused, HasReason(ErrorReason::kStoreFull));
  ASSERT_TRUE(daemon_.Running()) << daemon_.Log();
  for (size_t i = 0; i < open.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_THAT(i % 2 == 0 ? open[i]->Commit() : open[i]->Abort(), IsOk());
  }
  store_.Empty();
  absl::StatusOr<std::unique_ptr<client::Transaction>> next = absl::UnknownError("not asked");
  for (int i = 0; i < 1'000 && !next.ok(); ++i) next = session_->Begin();
  EXPECT_THAT(next, IsOk());
}

// Root may write everywhere: the writer is another user, in the group that may use the socket.
TEST_F(BadInputTest, AWarehouseWithoutPermission) {
  if (::geteuid() != 0) GTEST_SKIP() << "another user's program can only be started by root";
  std::filesystem::permissions(dir_.path(), std::filesystem::perms::all);
  std::vector<std::string> arguments{"--reuid=65534", "--regid=0", "--clear-groups"};
  // It may read everything, so that it gets to the program wherever the build lies; not where a
  // container has no such capability to give.
  std::vector<std::string> probe = arguments;
  for (const char* option : {"--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"}) {
    probe.push_back(option);
  }
  probe.push_back("/bin/true");
  if (RunProgram("/usr/bin/setpriv", probe).exit_code == 0) {
    arguments.assign(probe.begin(), probe.end() - 1);
  }
  arguments.insert(arguments.end(), {ExamplePath(), daemon_.endpoint()});
  const Finished written = RunProgram("/usr/bin/setpriv", arguments);
  EXPECT_EQ(written.exit_code, 1) << written.out;
  EXPECT_THAT(written.err, HasSubstr("(EACCES)"));
  EXPECT_THAT(written.err, HasSubstr("[STORAGE_UNWRITABLE]"));
}

}  // namespace
}  // namespace skep::e2e
