#include "server/rpc/table_location.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "storage/fs/posix_file_system.h"
#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace skep::rpc {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOkAndHolds;

class TableLocationTest : public ::testing::Test {
 protected:
  TableLocationTest() {
    for (const char* dir : {"w/sales.db", "other", "real"}) {
      std::filesystem::create_directories(dir_ / dir);
    }
    std::filesystem::create_directory_symlink(dir_ / "other", dir_ / "w/out");
    std::filesystem::create_directory_symlink(dir_ / "w/sales.db", dir_ / "w/alias");
    std::filesystem::create_directory_symlink(dir_ / "real", dir_ / "linked_root");
  }

  absl::StatusOr<std::string> Resolve(const std::string& location) {
    return ResolveLocation(fs_, roots_, location);
  }

  testing::TempDir dir_;
  fs::PosixFileSystem fs_;
  std::vector<std::string> roots_{dir_ / "w", dir_ / "linked_root"};
};

TEST_F(TableLocationTest, APlaceInsideARootHasOneSpelling) {
  const std::string w = dir_ / "w";
  struct Case {
    const char* name;
    std::string given;
    std::string place;
  };
  const Case cases[] = {
      {"as it is", w + "/sales.db/orders", w + "/sales.db/orders"},
      {"doubled and trailing slashes", w + "//sales.db/./orders/", w + "/sales.db/orders"},
      {"through a link within the root", w + "/alias/orders", w + "/sales.db/orders"},
      {"not there yet, several levels", w + "/new.db/a/b", w + "/new.db/a/b"},
      {"in a root that is a link", dir_ / "linked_root/t", dir_ / "linked_root/t"},
      {"the same by its real path", dir_ / "real/t", dir_ / "linked_root/t"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(Resolve(c.given), IsOkAndHolds(c.place));
  }
}

TEST_F(TableLocationTest, ARootThatIsNotThereIsNamedAsTheCause) {
  roots_.push_back(dir_ / "unmounted");
  const absl::Status refused = Resolve(dir_ / "unmounted/sales.db/orders").status();
  EXPECT_THAT(refused, HasReason(ErrorReason::kLocationNotAllowed));
  EXPECT_THAT(refused,
              testing::HasMessage(
                  ::testing::AllOf(::testing::HasSubstr("warehouse root " + (dir_ / "unmounted")),
                                   ::testing::HasSubstr("create or mount it"))));
}

TEST_F(TableLocationTest, EverythingElseIsRefusedWithThePathAndTheRoots) {
  struct Case {
    const char* name;
    std::string given;
  };
  const Case cases[] = {
      {"outside", dir_ / "other/t"},
      {"a root whose name only begins the same", (dir_ / "w") + "x/t"},
      {"out through a link", dir_ / "w/out/t"},
      {"dots", dir_ / "w/../other/t"},
      {"dots that stay inside", dir_ / "w/a/../b"},
      {"relative", "sales.db/t"},
      {"empty", ""},
      {"the root itself", dir_ / "w"},
      {"not UTF-8", (dir_ / "w/") + "\xff"},
      {"a newline", (dir_ / "w/") + "a\nb"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto place = Resolve(c.given);
    ASSERT_THAT(place, HasReason(ErrorReason::kLocationNotAllowed));
    EXPECT_EQ(MetadataOf(place.status()).at("roots"), roots_[0] + ", " + roots_[1]);
  }
}

TEST_F(TableLocationTest, TheDefaultIsInTheFirstRoot) {
  EXPECT_THAT(DefaultLocation(roots_, {"sales", "orders"}),
              IsOkAndHolds((dir_ / "w") + "/sales.db/orders"));
}

TEST_F(TableLocationTest, WithoutRootsTheKeyIsNamed) {
  const auto place = DefaultLocation({}, {"sales", "orders"});
  ASSERT_THAT(place, HasReason(ErrorReason::kLocationNotAllowed));
  EXPECT_THAT(place, testing::HasMessage(::testing::HasSubstr("warehouse.roots")));
  EXPECT_THAT(ResolveLocation(fs_, {}, "/w/t"),
              testing::HasMessage(::testing::HasSubstr("warehouse.roots")));
}

}  // namespace
}  // namespace skep::rpc
