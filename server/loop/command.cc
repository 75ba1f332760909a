#include "server/loop/command.h"

#include <utility>

#include "storage/model/errors.h"

namespace skep::loop {
namespace {

class FunctionCommand final : public Command {
 public:
  FunctionCommand(CommandFn run, DoneFn done) : run_(std::move(run)), done_(std::move(done)) {}
  FunctionCommand(const FunctionCommand&) = delete;
  FunctionCommand& operator=(const FunctionCommand&) = delete;
  ~FunctionCommand() override {
    Answer(
        MakeError(ErrorReason::kShuttingDown, "the server is shutting down: nothing was changed"));
  }

  Verdict Decide(state::State& state, state::Now now, state::Unit& unit) override {
    run_(state, now, unit);
    return {};
  }
  void Durable() override { Answer(absl::OkStatus()); }
  void Failed(const absl::Status& status) override { Answer(status); }

 private:
  void Answer(absl::Status status) {
    if (!done_) return;
    DoneFn done = std::exchange(done_, nullptr);
    done(std::move(status));
  }

  CommandFn run_;
  DoneFn done_;
};

}  // namespace

std::unique_ptr<Command> MakeCommand(CommandFn run, DoneFn done) {
  return std::make_unique<FunctionCommand>(std::move(run), std::move(done));
}

}  // namespace skep::loop
