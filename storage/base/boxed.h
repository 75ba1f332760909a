#pragma once

#include <memory>
#include <utility>

namespace skep {

// A value on the heap that is copied and compared like one in place: a large alternative of a
// variant does not make the others larger. Never null, but one that was moved from, which may only
// be destroyed or assigned to.
template <class T>
class Boxed {
 public:
  Boxed() : value_(std::make_unique<T>()) {}
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: stands for its value
  Boxed(const Boxed& other) : Boxed(*other) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) value_ = std::make_unique<T>(*other);
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  friend bool operator==(const Boxed& a, const Boxed& b) { return *a == *b; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace skep
