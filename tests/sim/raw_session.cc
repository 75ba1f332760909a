#include "tests/sim/raw_session.h"

#include <utility>

#include "server/loop/session_rules.h"
#include "storage/model/errors.h"

namespace skep::sim {
namespace {

using std::chrono::seconds;

std::string RandomId(Dice& dice) {
  std::string id;
  for (int i = 0; i < 16; ++i) id += static_cast<char>(dice.Below(256));
  return id;
}

}  // namespace

RawSession::RawSession(RawWire& wire)
    : wire_(wire), connector_(wire.world.streams(), wire.life.link), id_(RandomId(wire.dice())) {}

RawSession::~RawSession() = default;

bool RawSession::Wait(const std::function<bool()>& there, Nanos time) {
  Scheduler& scheduler = wire_.world.scheduler();
  bool late = false;
  const auto timer = scheduler.After(
      time, [&late] { late = true; }, wire_.actor.process());
  wire_.actor.WaitFor([&] { return late || there(); });
  scheduler.Cancel(timer);
  return there();
}

// A stream of the session, the first one or the next. False: the session is lost.
bool RawSession::Connect() {
  while (!wire_.world.stopping()) {
    ++epoch_;
    welcome_ = 0;
    over_ = false;
    stream_ = std::make_shared<int>();
    client::SessionEvents events;
    const std::weak_ptr<int> stream = stream_;
    events.received = [this, stream](v1::SessionResponse response) {
      if (stream.lock()) Take(std::move(response));
    };
    events.written = [] {};
    events.ended = [this, stream](const absl::Status& status, bool) {
      if (!stream.lock()) return;
      over_ = true;
      lost_ |= ReasonOf(status) == ErrorReason::kNoSuchSession ||
               ReasonOf(status) == ErrorReason::kSessionFenced;
    };
    connection_ = connector_.Open(std::move(events));
    Send({}, true);
    Wait([this] { return welcome_ != 0 || over_; }, seconds(5));
    if (welcome_ != 0 && !over_) {
      // What was not taken goes again; what was is answered again.
      std::vector<int64_t> again;
      for (const auto& [number, operation] : open_) {
        if (number >= welcome_) again.push_back(number);
      }
      Send(again, false);
      return true;
    }
    connection_.reset();
    if (lost_) return false;
    wire_.Think(seconds(2));
  }
  lost_ = true;
  return false;
}

void RawSession::Send(const std::vector<int64_t>& numbers, bool hello) {
  v1::SessionRequest message;
  if (hello) {
    message.mutable_hello()->set_session_id(id_);
    message.mutable_hello()->set_epoch(epoch_);
    message.mutable_hello()->set_resume(epoch_ > 1);
  }
  for (const int64_t number : numbers) *message.add_operations() = open_.at(number);
  // What it says of the answers may be old news, never too much.
  if (hello || wire_.dice().OneIn(2)) {
    int64_t below = 1;
    while (answers_.contains(below)) ++below;
    message.set_answered_below(below);
    for (auto it = answers_.upper_bound(below); it != answers_.end(); ++it) {
      message.add_answered_above(it->first);
    }
    message.set_notices_below(notices_below_);
  }
  connection_->Write(message);
}

void RawSession::Take(v1::SessionResponse response) {
  if (response.has_welcome()) welcome_ = response.welcome().next_number();
  for (const v1::SessionAnswer& answer : response.answers()) {
    const std::string bytes = answer.SerializeAsString();
    const auto [it, fresh] = answers_.emplace(answer.number(), bytes);
    if (!fresh && it->second != bytes) {
      wire_.world.Fail(
          fmt::format("operation {} was answered twice, and not the same", answer.number()));
    }
    if (answer.number() >= next_) {
      wire_.world.Fail(fmt::format("operation {} was answered and never asked", answer.number()));
    }
    open_.erase(answer.number());
  }
  for (const v1::SessionNotice& notice : response.notices()) {
    if (notice.number() < notices_below_) continue;  // sent again
    if (notice.number() > notices_below_) {
      wire_.world.Fail(fmt::format("notice {} came before {}", notice.number(), notices_below_));
    }
    notices_below_ = notice.number() + 1;
    if (notice.operation() != 0) notices_[notice.operation()] = notice;
  }
}

RawSession::Answers RawSession::Ask(Operations operations) {
  if (lost_) return {};
  std::vector<int64_t> numbers;
  for (v1::SessionOperation& operation : operations) {
    operation.set_number(next_++);
    numbers.push_back(operation.number());
    open_[operation.number()] = std::move(operation);
  }
  // Connecting sends whatever is open.
  if (connection_ == nullptr || over_) {
    if (!Connect()) return {};
  } else {
    Send(numbers, false);
  }
  const auto all = [&] {
    for (const int64_t number : numbers) {
      if (!answers_.contains(number)) return false;
    }
    return true;
  };
  while (!Wait([&] { return all() || over_; }, seconds(20)) || !all()) {
    connection_.reset();
    if (!Connect()) return {};
  }
  Answers answers;
  for (const int64_t number : numbers) {
    v1::SessionAnswer answer;
    answer.ParseFromString(answers_.at(number));
    answers.push_back(std::move(answer));
  }
  return answers;
}

bool RawSession::WaitForNotice(int64_t operation, Nanos time, v1::SessionNotice& notice) {
  const MonoTime until = wire_.world.scheduler().now() + time;
  while (!notices_.contains(operation)) {
    if (connection_ == nullptr || over_) {
      if (lost_ || !Connect()) return false;
    }
    const Nanos left = until - wire_.world.scheduler().now();
    if (left <= Nanos(0)) return false;
    Wait([&] { return over_ || notices_.contains(operation); }, left);
  }
  notice = notices_.at(operation);
  return true;
}

int64_t RawSession::Post(Operations operations) {
  const int64_t first = next_;
  if (connection_ == nullptr || over_) Connect();
  std::vector<int64_t> numbers;
  for (v1::SessionOperation& operation : operations) {
    operation.set_number(next_++);
    numbers.push_back(operation.number());
    open_[operation.number()] = std::move(operation);
  }
  if (!lost_ && connection_ != nullptr) Send(numbers, false);
  return first;
}

std::string RawSession::RequestIdOf(int64_t number) const {
  return loop::OperationRequestId(id_, number);
}

std::optional<int64_t> RawSession::Fence() {
  auto response = std::make_shared<v1::FenceSessionResponse>();
  auto request = std::make_shared<v1::FenceSessionRequest>();
  request->set_session_id(id_);
  request->set_epoch(epoch_ + 1);
  const absl::Status status = wire_.caller.Call("/skep.v1.SessionService/FenceSession",
                                                request,
                                                response,
                                                wire_.world.clock().MonoNow() + seconds(10));
  if (!status.ok()) return std::nullopt;
  lost_ = true;
  if (response->known() && response->next_number() > next_) {
    wire_.world.Fail(fmt::format(
        "{} operations were taken of {} that were sent", response->next_number() - 1, next_ - 1));
  }
  if (!response->known()) return std::nullopt;
  return response->next_number();
}

void RawSession::End() {
  v1::SessionRequest last;
  last.set_end(true);
  if (connection_ != nullptr && !over_) connection_->Close(last);
  connection_.reset();
  lost_ = true;
}

}  // namespace skep::sim
