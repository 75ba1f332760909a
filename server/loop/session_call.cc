#include "server/loop/session_call.h"

namespace skep::loop {

void SessionCall::Begin(std::shared_ptr<Session> session,
                        SessionMethod& method,
                        const OperationBytes& operation,
                        std::shared_ptr<const std::string> bytes,
                        MonoTime deadline) {
  session_ = std::move(session);
  method_ = &method;
  operation_ = operation;
  bytes_ = std::move(bytes);
  deadline_ = deadline;
}

void SessionCall::Clear() {
  session_.reset();
  bytes_.reset();
  operation_ = {};
  answer_.clear();
  refused_ = false;
  opens_ = {};
  asks_ = {};
  ended_txns_.clear();
  ended_locks_.clear();
}

bool SessionCall::Read(google::protobuf::MessageLite* request) {
  const std::string_view bytes = operation_.request;
  if (!request->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  if (method_->give_request_id) method_->give_request_id(*request, home_.RequestIdOf(*this));
  return true;
}

void SessionCall::Reply(const google::protobuf::MessageLite& response) {
  answer_ = AnswerBytes(number(), method_->field, response);
  refused_ = false;
}

void SessionCall::Refuse(const absl::Status& status) {
  answer_ = RefusalBytes(number(), status);
  refused_ = true;
  // At once, not when the answer leaves: the next operation of the message may be the commit.
  home_.Failed(*this);
}

void SessionCall::Send() {
  if (!refused_) {
    if (opens_.second > 0) home_.Opened(*this, opens_.first, opens_.second);
    if (!asks_.is_none()) home_.Asked(*this, asks_);
    if (method_->ends) ended_txns_ = txns();
    if (!ended_txns_.empty() || !ended_locks_.empty()) {
      home_.Ended(*this, ended_txns_, ended_locks_);
    }
  }
  home_.Answer(*this, std::move(answer_));
}

Verdict SessionCall::Decide(state::State& state, state::Now now, state::Unit& unit) {
  const absl::Status admitted = home_.Admit(*this);
  if (!admitted.ok()) {
    Refuse(admitted);
    return {};
  }
  CallContext context{*this, home_.core(), state, now, unit};
  return method_->method.run(context);
}

void SessionCall::Failed(const absl::Status& status) {
  Refuse(status);
  Send();
}

}  // namespace skep::loop
