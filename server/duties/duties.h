#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/duties/cleaner.h"
#include "server/duties/command_port.h"
#include "server/duties/initiator.h"
#include "server/duties/worker.h"

namespace skep::duties {

// The background duties of one daemon: which there are, who wakes whom, and how they end together.
// Thread-safe.
class Duties {
 public:
  struct Options {
    std::optional<Initiator::Options> initiator = Initiator::Options();  // none: off
    std::optional<Cleaner::Options> cleaner = Cleaner::Options();        // none: off
    Worker::Options worker;  // its name gets "-1", "-2", …
    int workers = 1;
  };
  // An executor for the duty of this name ("initiator", "cleaner", "worker-1", …), with a thread of
  // its own: a compaction keeps its thread busy. Must outlive the duties.
  using ExecutorFor = std::function<Executor&(const std::string& name)>;

  // All must outlive the duties. Takes the port's watch on compactions.
  Duties(const Options& options,
         CommandPort& port,
         const ExecutorFor& executor_for,
         Clock& clock,
         fs::FileSystem& fs);

  void Start();
  // Ends all of them; running compactions are given back. `stopped` is called once, on one of the
  // executors, or at once where there is no duty. To be called once.
  void Stop(std::function<void()> stopped);

  // nullptr: off.
  const Initiator* initiator() const { return initiator_.get(); }
  const Cleaner* cleaner() const { return cleaner_.get(); }
  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }

 private:
  std::unique_ptr<Initiator> initiator_;
  std::unique_ptr<Cleaner> cleaner_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace skep::duties
