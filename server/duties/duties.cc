#include "server/duties/duties.h"

#include <atomic>

namespace skep::duties {

Duties::Duties(const Options& options,
               CommandPort& port,
               const ExecutorFor& executor_for,
               Clock& clock,
               fs::FileSystem& fs) {
  if (options.initiator) {
    initiator_ =
        std::make_unique<Initiator>(*options.initiator, port, executor_for("initiator"), clock, fs);
  }
  if (options.cleaner) {
    cleaner_ =
        std::make_unique<Cleaner>(*options.cleaner, port, executor_for("cleaner"), clock, fs);
  }
  for (int i = 1; i <= options.workers; ++i) {
    Worker::Options worker = options.worker;
    worker.name += "-" + std::to_string(i);
    workers_.push_back(std::make_unique<Worker>(
        worker, port, executor_for("worker-" + std::to_string(i)), clock, fs));
  }
  // A row that is put may be work for any of them: one enqueued, given back, published.
  port.WatchCompactions([this] {
    for (const auto& worker : workers_) worker->Wake();
    if (cleaner_ != nullptr) cleaner_->Wake();
  });
}

void Duties::Start() {
  if (initiator_ != nullptr) initiator_->Start();
  if (cleaner_ != nullptr) cleaner_->Start();
  for (const auto& worker : workers_) worker->Start();
}

void Duties::Stop(std::function<void()> stopped) {
  const int duties =
      static_cast<int>(workers_.size()) + (initiator_ != nullptr) + (cleaner_ != nullptr);
  if (duties == 0) return stopped();
  // Shared by the duties that still run; the last one reports.
  auto left = std::make_shared<std::atomic<int>>(duties);
  const auto one_less = [left, stopped = std::move(stopped)] {
    if (left->fetch_sub(1) == 1) stopped();
  };
  if (initiator_ != nullptr) initiator_->Stop(one_less);
  if (cleaner_ != nullptr) cleaner_->Stop(one_less);
  for (const auto& worker : workers_) worker->Stop(one_less);
}

}  // namespace skep::duties
