# What a ThreadSanitizer build needs to work with the distribution's libraries, which are not instrumented.
#
# Under the sanitizer's macro protobuf's map fields grow by two members that the compiled library does not know.
add_compile_options(-U__SANITIZE_THREAD__)
# Shows the sanitizer what Abseil's mutex synchronises: see tests/testing/tsan_sync.cc. Linked into every target that
# is defined after this.
add_library(skep_tsan_sync STATIC "${CMAKE_SOURCE_DIR}/tests/testing/tsan_sync.cc")
target_link_libraries(skep_tsan_sync PUBLIC absl::synchronization)
link_libraries("$<BUILD_INTERFACE:skep_tsan_sync>")
set(mutex _ZN4absl7debian35Mutex)
set(notification 4absl7debian312Notification)
foreach(symbol ${mutex}4LockEv ${mutex}6UnlockEv ${mutex}10ReaderLockEv ${mutex}12ReaderUnlockEv
        ${mutex}5AwaitERKNS0_9ConditionE ${mutex}16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE
        _ZN${notification}6NotifyEv _ZNK${notification}19WaitForNotificationEv
        _ZNK${notification}30WaitForNotificationWithTimeoutENS0_8DurationE)
  add_link_options("LINKER:--wrap=${symbol}")
endforeach()
