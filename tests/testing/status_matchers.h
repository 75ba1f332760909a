#pragma once

#include <ostream>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::testing {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <class T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, "is OK") {
  const absl::Status& status = StatusOf(arg);
  if (!status.ok()) *result_listener << "is " << status.ToString();
  return status.ok();
}

// The value of an OK StatusOr matches `inner`.
template <class Inner>
class IsOkAndHoldsMatcher {
 public:
  explicit IsOkAndHoldsMatcher(Inner inner) : inner_(std::move(inner)) {}
  template <class T>
  operator ::testing::Matcher<T>()
      const {  // NOLINT(google-explicit-constructor): how matchers convert
    return ::testing::Matcher<T>(new Impl<T>(inner_));
  }

 private:
  template <class T>
  class Impl : public ::testing::MatcherInterface<T> {
   public:
    using Value = typename std::remove_cvref_t<T>::value_type;
    explicit Impl(const Inner& inner) : inner_(::testing::SafeMatcherCast<const Value&>(inner)) {}
    bool MatchAndExplain(T arg, ::testing::MatchResultListener* listener) const override {
      if (!arg.ok()) {
        *listener << "is " << arg.status().ToString();
        return false;
      }
      return inner_.MatchAndExplain(*arg, listener);
    }
    void DescribeTo(std::ostream* out) const override {
      *out << "is OK and holds a value that ";
      inner_.DescribeTo(out);
    }

   private:
    ::testing::Matcher<const Value&> inner_;
  };
  Inner inner_;
};
template <class Inner>
IsOkAndHoldsMatcher<std::decay_t<Inner>> IsOkAndHolds(Inner&& inner) {
  return IsOkAndHoldsMatcher<std::decay_t<Inner>>(std::forward<Inner>(inner));
}

MATCHER_P(StatusIs, code, "has code " + absl::StatusCodeToString(code)) {
  const absl::Status& status = StatusOf(arg);
  *result_listener << "is " << status.ToString();
  return status.code() == code;
}

MATCHER_P(HasReason, reason, "has reason " + std::string(ReasonName(reason))) {
  const absl::Status& status = StatusOf(arg);
  *result_listener << "is " << status.ToString() << " [" << ReasonName(ReasonOf(status)) << "]";
  return ReasonOf(status) == reason;
}

MATCHER_P(HasMessage, inner, "has a message that matches") {
  return ::testing::ExplainMatchResult(inner, MessageOf(StatusOf(arg)), result_listener);
}

}  // namespace skep::testing

#define SKEP_ASSERT_OK_AND_ASSIGN(lhs, rexpr) \
  SKEP_ASSERT_OK_AND_ASSIGN_IMPL(SKEP_TEST_CONCAT(skep_result_, __LINE__), lhs, rexpr)
#define SKEP_TEST_CONCAT_INNER(a, b) a##b
#define SKEP_TEST_CONCAT(a, b) SKEP_TEST_CONCAT_INNER(a, b)
#define SKEP_ASSERT_OK_AND_ASSIGN_IMPL(var, lhs, rexpr) \
  auto var = (rexpr);                                   \
  ASSERT_TRUE(var.ok()) << var.status().ToString();     \
  lhs = std::move(var).value()
