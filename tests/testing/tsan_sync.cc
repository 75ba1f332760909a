// Tells ThreadSanitizer what Abseil's mutex and notification synchronise. The distribution's Abseil
// is not instrumented and locks by atomics that the sanitizer does not see: without this every
// guarded member would be reported. The linker sends our calls here (--wrap); linked into every
// program of a ThreadSanitizer build.

#include <absl/synchronization/mutex.h>
#include <absl/synchronization/notification.h>
#include <sanitizer/tsan_interface.h>

// The names as the linker knows them; the inline namespace is the distribution's.
#define SKEP_MUTEX(name) _ZN4absl7debian35Mutex##name
#define SKEP_REAL2(symbol) __real_##symbol
#define SKEP_WRAP2(symbol) __wrap_##symbol
#define SKEP_REAL(symbol) SKEP_REAL2(symbol)
#define SKEP_WRAP(symbol) SKEP_WRAP2(symbol)

#define SKEP_LOCK SKEP_MUTEX(4LockEv)
#define SKEP_UNLOCK SKEP_MUTEX(6UnlockEv)
#define SKEP_READER_LOCK SKEP_MUTEX(10ReaderLockEv)
#define SKEP_READER_UNLOCK SKEP_MUTEX(12ReaderUnlockEv)
#define SKEP_AWAIT SKEP_MUTEX(5AwaitERKNS0_9ConditionE)
#define SKEP_AWAIT_TIMEOUT SKEP_MUTEX(16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE)
#define SKEP_NOTIFY _ZN4absl7debian312Notification6NotifyEv
#define SKEP_WAIT _ZNK4absl7debian312Notification19WaitForNotificationEv
#define SKEP_WAIT_TIMEOUT \
  _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE

namespace {

// A condition of a waiter: evaluated with the mutex held, by the waiter that woke or by whoever is
// about to unlock.
struct Watched {
  absl::Mutex* mutex;
  const absl::Condition* condition;

  bool Eval() {
    __tsan_acquire(mutex);
    const bool holds = condition->Eval();
    __tsan_release(mutex);
    return holds;
  }
};

}  // namespace

extern "C" {

void SKEP_REAL(SKEP_LOCK)(absl::Mutex*);
void SKEP_REAL(SKEP_UNLOCK)(absl::Mutex*);
void SKEP_REAL(SKEP_READER_LOCK)(absl::Mutex*);
void SKEP_REAL(SKEP_READER_UNLOCK)(absl::Mutex*);
void SKEP_REAL(SKEP_AWAIT)(absl::Mutex*, const absl::Condition&);
bool SKEP_REAL(SKEP_AWAIT_TIMEOUT)(absl::Mutex*, const absl::Condition&, absl::Duration);
void SKEP_REAL(SKEP_NOTIFY)(absl::Notification*);
void SKEP_REAL(SKEP_WAIT)(const absl::Notification*);
bool SKEP_REAL(SKEP_WAIT_TIMEOUT)(const absl::Notification*, absl::Duration);

void SKEP_WRAP(SKEP_LOCK)(absl::Mutex* mutex) {
  SKEP_REAL(SKEP_LOCK)(mutex);
  __tsan_acquire(mutex);
}

void SKEP_WRAP(SKEP_UNLOCK)(absl::Mutex* mutex) {
  __tsan_release(mutex);
  SKEP_REAL(SKEP_UNLOCK)(mutex);
}

void SKEP_WRAP(SKEP_READER_LOCK)(absl::Mutex* mutex) {
  SKEP_REAL(SKEP_READER_LOCK)(mutex);
  __tsan_acquire(mutex);
}

void SKEP_WRAP(SKEP_READER_UNLOCK)(absl::Mutex* mutex) {
  __tsan_release(mutex);
  SKEP_REAL(SKEP_READER_UNLOCK)(mutex);
}

void SKEP_WRAP(SKEP_AWAIT)(absl::Mutex* mutex, const absl::Condition& condition) {
  Watched watched{mutex, &condition};
  __tsan_release(mutex);
  SKEP_REAL(SKEP_AWAIT)(mutex, absl::Condition(&watched, &Watched::Eval));
  __tsan_acquire(mutex);
}

bool SKEP_WRAP(SKEP_AWAIT_TIMEOUT)(absl::Mutex* mutex,
                                   const absl::Condition& condition,
                                   absl::Duration timeout) {
  Watched watched{mutex, &condition};
  __tsan_release(mutex);
  const bool held =
      SKEP_REAL(SKEP_AWAIT_TIMEOUT)(mutex, absl::Condition(&watched, &Watched::Eval), timeout);
  __tsan_acquire(mutex);
  return held;
}

void SKEP_WRAP(SKEP_NOTIFY)(absl::Notification* notification) {
  __tsan_release(notification);
  SKEP_REAL(SKEP_NOTIFY)(notification);
}

void SKEP_WRAP(SKEP_WAIT)(const absl::Notification* notification) {
  SKEP_REAL(SKEP_WAIT)(notification);
  __tsan_acquire(const_cast<absl::Notification*>(notification));
}

bool SKEP_WRAP(SKEP_WAIT_TIMEOUT)(const absl::Notification* notification, absl::Duration timeout) {
  const bool notified = SKEP_REAL(SKEP_WAIT_TIMEOUT)(notification, timeout);
  if (notified) __tsan_acquire(const_cast<absl::Notification*>(notification));
  return notified;
}

}  // extern "C"
