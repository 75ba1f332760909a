#pragma once

#include <string_view>
#include <utility>

#include <sqlite3.h>

namespace skep::meta {

// Owns one prepared statement. Move-only, confined to the connection's thread.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    if (this != &other) {
      sqlite3_finalize(statement_);
      statement_ = std::exchange(other.statement_, nullptr);
    }
    return *this;
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(statement_); }

  sqlite3_stmt* get() const { return statement_; }

  // Runs a statement that returns no rows and makes it ready again: SQLITE_OK or the error's code.
  // Bindings stay as they are until they are bound anew.
  int Run() {
    const int step = sqlite3_step(statement_);
    const int reset = sqlite3_reset(statement_);
    return step == SQLITE_DONE ? SQLITE_OK : (reset != SQLITE_OK ? reset : step);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace skep::meta
