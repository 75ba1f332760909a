#include "proto/wire/page_token.h"

#include <gtest/gtest.h>

#include "storage/model/errors.h"
#include "tests/testing/status_matchers.h"

#include "proto/skep/v1/transaction_service.pb.h"

namespace skep::wire {
namespace {

using ::skep::testing::HasReason;
using ::skep::testing::IsOkAndHolds;

v1::ListTransactionsRequest Request(const std::string& user) {
  v1::ListTransactionsRequest request;
  request.set_user(user);
  return request;
}

TEST(PageToken, GoesOnAfterTheLastItemUnderTheSameFilter) {
  v1::ListTransactionsRequest request = Request("ada");
  const std::string token = MakePageToken(FilterOf(request), "417");
  request.set_page_token(token);
  request.set_page_size(7);  // may change between pages
  EXPECT_THAT(ReadIdPageToken(FilterOf(request), token), IsOkAndHolds(417));
}

TEST(PageToken, AnEmptyOneIsTheFirstPage) {
  EXPECT_THAT(ReadPageToken(1, ""), IsOkAndHolds(std::string()));
  EXPECT_THAT(ReadIdPageToken(1, ""), IsOkAndHolds(0));
}

TEST(PageToken, IsRefusedUnderAnotherFilter) {
  const std::string token = MakePageToken(FilterOf(Request("ada")), "417");
  EXPECT_THAT(ReadIdPageToken(FilterOf(Request("bob")), token),
              HasReason(ErrorReason::kInvalidRequest));
}

TEST(PageToken, IsRefusedWhenDamaged) {
  const uint64_t filter = FilterOf(Request("ada"));
  const std::string token = MakePageToken(filter, "417");
  for (const std::string& bad :
       {token + "0", token.substr(1), std::string("417"), token.substr(0, 16)}) {
    SCOPED_TRACE(bad);
    EXPECT_THAT(ReadIdPageToken(filter, bad), HasReason(ErrorReason::kInvalidRequest));
  }
}

TEST(PageToken, ANameIsNoId) {
  const std::string token = MakePageToken(3, "sales.orders");
  EXPECT_THAT(ReadIdPageToken(3, token), HasReason(ErrorReason::kInvalidRequest));
  EXPECT_THAT(ReadPageToken(3, token), IsOkAndHolds(std::string("sales.orders")));
}

}  // namespace
}  // namespace skep::wire
