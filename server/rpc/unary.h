#pragma once

#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "proto/wire/base_wire.h"
#include "server/loop/call.h"

namespace skep::rpc {

// What a handler may use beside its messages.
struct Context {
  loop::CallContext& call;
  state::State& state;
  state::Now now;
  state::Unit& unit;
  // When the answer may leave; a refusal always waits for the open unit.
  loop::Release release = loop::Release::kWithUnit;
  // For kAtOnce: the transactions that the answer is about.
  std::vector<TxnId>& about;

  void AtOnce(TxnId txn) {
    release = loop::Release::kAtOnce;
    if (!txn.is_none()) about.push_back(txn);
  }
};

// What is said to those who would make something while the disk is full.
absl::Status NoRoom();

// A unary method as a plain function (request, context, response) → status. Requests and responses
// are kept from call to call, so that a hot call allocates nothing for them; they are valid during
// the handler only.
template <class Request, class Response, class Handler>
class Unary {
 public:
  explicit Unary(Handler handler, bool makes = false)
      : handler_(std::move(handler)), makes_(makes) {}

  loop::Verdict operator()(loop::CallContext& call) {
    request_.Clear();
    response_.Clear();
    about_.clear();
    if (!call.call.Read(&request_)) {
      call.call.Refuse(wire::NotParsed());
      return {};
    }
    if (makes_ && !call.core.HasRoom()) {
      call.call.Refuse(NoRoom());
      return {};
    }
    Context context{call, call.state, call.now, call.unit, loop::Release::kWithUnit, about_};
    const absl::Status status = handler_(request_, context, &response_);
    // Clear() keeps what a message has allocated: a few megabytes of empty sub-messages would hold
    // a hundred for ever, for each method.
    if (request_.ByteSizeLong() > kLargeRequest) request_ = Request();
    if (!status.ok()) {
      call.call.Refuse(status);
      return {};
    }
    if (context.release == loop::Release::kParked || context.release == loop::Release::kLater) {
      return {context.release, {}};
    }
    call.call.Reply(response_);
    // One large answer must not hold its memory for ever.
    if (response_.GetCachedSize() > kLargeAnswer) response_ = Response();
    return {context.release, about_};
  }

 private:
  static constexpr int kLargeAnswer = 64 * 1024;
  static constexpr size_t kLargeRequest = 16 * 1024;

  Handler handler_;
  const bool makes_;
  Request request_;
  Response response_;
  std::vector<TxnId> about_;
};

// How many calls stand ready for a method that is called all the time. Each takes some five
// kilobytes for the life of the process; a burst of more makes them as it goes.
inline constexpr int kHot = 24;
inline constexpr int kRare = 4;

struct MethodOptions {
  loop::CallClass call_class = loop::CallClass::kOrdinary;
  int registered = kRare;
  bool waits = false;
  bool makes = false;  // takes up room in the store: refused while there is none to spare
};

template <class Request, class Response, class Handler>
loop::Method MakeMethod(std::string path, MethodOptions options, Handler handler) {
  return {std::move(path),
          options.call_class,
          options.registered,
          options.waits,
          Unary<Request, Response, Handler>(std::move(handler), options.makes)};
}

}  // namespace skep::rpc
