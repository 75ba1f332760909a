#pragma once

#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

// Returns from the enclosing function when `expr` (absl::Status or anything convertible) is not OK.
#define SKEP_RETURN_IF_ERROR(expr)               \
  do {                                           \
    ::absl::Status skep_status_ = (expr);        \
    if (!skep_status_.ok()) return skep_status_; \
  } while (false)

#define SKEP_STATUS_CONCAT_INNER(a, b) a##b
#define SKEP_STATUS_CONCAT(a, b) SKEP_STATUS_CONCAT_INNER(a, b)

// Evaluates `rexpr` (absl::StatusOr<T>); returns its status on failure, else moves its value into
// `lhs`.
#define SKEP_ASSIGN_OR_RETURN(lhs, rexpr) \
  SKEP_ASSIGN_OR_RETURN_IMPL(SKEP_STATUS_CONCAT(skep_statusor_, __LINE__), lhs, rexpr)
#define SKEP_ASSIGN_OR_RETURN_IMPL(var, lhs, rexpr) \
  auto var = (rexpr);                               \
  if (!var.ok()) return std::move(var).status();    \
  lhs = std::move(var).value()
