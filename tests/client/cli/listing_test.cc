#include "client/cli/listing.h"

#include "tests/testing/status_matchers.h"

namespace skep::cli {
namespace {

using ::skep::testing::HasMessage;
using ::skep::testing::HasReason;
using ::skep::testing::IsOkAndHolds;
using ::testing::HasSubstr;

Listing Sample() {
  Listing listing;
  listing.columns = {{"ID", false, true}, {"NAME"}, {"NOTE", true}};
  listing.rows = {{"9", "caf\xC3\xA9", "a,b"}, {"10", "x\ty", "say \"hi\""}, {"8", "", ""}};
  listing.name_column = 1;
  return listing;
}

TEST(Render, AlignsByCharacters) {
  EXPECT_THAT(Render(Sample(), {}, Output::kTable),
              IsOkAndHolds("ID  NAME\n"
                           " 9  caf\xC3\xA9\n"
                           "10  x\\x09y\n"
                           " 8\n"));
  EXPECT_THAT(Render(Sample(), {}, Output::kWide),
              IsOkAndHolds("ID  NAME    NOTE\n"
                           " 9  caf\xC3\xA9    a,b\n"
                           "10  x\\x09y  say \"hi\"\n"
                           " 8\n"));
}

TEST(Render, QuotesForPrograms) {
  EXPECT_THAT(Render(Sample(), {}, Output::kCsv),
              IsOkAndHolds("id,name,note\n"
                           "9,caf\xC3\xA9,\"a,b\"\n"
                           "10,x\ty,\"say \"\"hi\"\"\"\n"
                           "8,,\n"));
  EXPECT_THAT(Render(Sample(), {}, Output::kTsv),
              IsOkAndHolds("id\tname\tnote\n"
                           "9\tcaf\xC3\xA9\ta,b\n"
                           "10\tx\\ty\tsay \"hi\"\n"
                           "8\t\t\n"));
}

TEST(Render, PrintsNamesAlone) {
  EXPECT_THAT(Render(Sample(), {}, Output::kName), IsOkAndHolds("caf\xC3\xA9\nx\\x09y\n\n"));
}

TEST(Render, ShowsTheColumnsThatWereAskedFor) {
  GlobalOptions global;
  global.columns = {"note", "Id"};
  global.no_headers = true;
  EXPECT_THAT(Render(Sample(), global, Output::kTable),
              IsOkAndHolds("a,b        9\n"
                           "say \"hi\"  10\n"
                           "           8\n"));
  global.columns = {"size"};
  absl::StatusOr<std::string> wrong = Render(Sample(), global, Output::kTable);
  EXPECT_THAT(wrong, HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(wrong, HasMessage(HasSubstr("there are id, name, note")));
}

TEST(Render, SortsNumbersByValue) {
  GlobalOptions global;
  global.columns = {"id"};
  global.no_headers = true;
  global.sort = "id";
  EXPECT_THAT(Render(Sample(), global, Output::kTsv), IsOkAndHolds("8\n9\n10\n"));
  global.sort = "-ID";
  EXPECT_THAT(Render(Sample(), global, Output::kTsv), IsOkAndHolds("10\n9\n8\n"));
  global.sort = "name";
  EXPECT_THAT(Render(Sample(), global, Output::kTsv), IsOkAndHolds("8\n9\n10\n"));
}

TEST(Render, LeavesOutColumnsThatNoRowHasAnythingIn) {
  Listing listing = Sample();
  for (auto& row : listing.rows) row[1].clear();
  EXPECT_THAT(Render(listing, {}, Output::kTable), IsOkAndHolds("ID\n 9\n10\n 8\n"));
  GlobalOptions global;
  global.columns = {"name", "id"};
  EXPECT_THAT(Render(listing, global, Output::kTable),
              IsOkAndHolds("NAME  ID\n       9\n      10\n       8\n"));
  EXPECT_THAT(Render(listing, {}, Output::kTsv), IsOkAndHolds(HasSubstr("id\tname\tnote\n")));
}

TEST(Render, SortsByKeysWhereThereAreSome) {
  Listing listing = Sample();
  listing.sort_keys = {{"1", "", ""}, {"3", "", ""}, {"2", "", ""}};
  GlobalOptions global;
  global.columns = {"id"};
  global.sort = "-id";
  EXPECT_THAT(Render(listing, global, Output::kTsv), IsOkAndHolds("id\n10\n8\n9\n"));
}

TEST(Render, GivesTitlesOfAnEmptyListToProgramsOnly) {
  Listing empty = Sample();
  empty.rows.clear();
  EXPECT_THAT(Render(empty, {}, Output::kTable), IsOkAndHolds(""));
  EXPECT_THAT(Render(empty, {}, Output::kCsv), IsOkAndHolds("id,name,note\n"));
}

}  // namespace
}  // namespace skep::cli
