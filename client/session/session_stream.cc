#include "client/session/session_stream.h"

#include <algorithm>
#include <utility>

#include "client/session/rpc.h"
#include "proto/wire/base_wire.h"
#include "proto/wire/enums_wire.h"
#include "proto/wire/status_wire.h"
#include "storage/model/errors.h"

namespace skep::client {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// One message under way, one being put together behind it.
constexpr size_t kMessagesUnderWay = 2;
constexpr int kOperationsPerMessage = 2'048;
constexpr int64_t kBytesPerMessage = 2 << 20;  // a server takes four
// What may be sent before the welcome says how much.
constexpr int64_t kFirstOperations = 64;
constexpr int64_t kFirstBytes = 1 << 20;
// Before anything is known of leases: a sixth of it is half of what a call usually has.
constexpr std::chrono::seconds kFirstLease{30};
// The answer of a waiting lock must not come behind the deadline of its call.
constexpr std::chrono::milliseconds kMargin{250};

const FieldDescriptor* FieldFor(const Descriptor* request) {
  static const auto* const fields = [] {
    auto* map = new std::map<const Descriptor*, const FieldDescriptor*>;
    const auto* oneof = v1::SessionOperation::descriptor()->FindOneofByName("request");
    for (int i = 0; i < oneof->field_count(); ++i) {
      (*map)[oneof->field(i)->message_type()] = oneof->field(i);
    }
    return map;
  }();
  const auto found = fields->find(request);
  return found == fields->end() ? nullptr : found->second;
}

bool IsBeat(const FieldDescriptor* field) {
  return field->number() == v1::SessionOperation::kHeartbeatTransactionsFieldNumber;
}

// The response's field has the number of the request's.
const FieldDescriptor* ResponseField(const FieldDescriptor* request) {
  return v1::SessionAnswer::descriptor()->FindFieldByNumber(request->number());
}

bool IsWaiting(const google::protobuf::Message& response) {
  const auto* lock = dynamic_cast<const v1::AcquireLocksResponse*>(&response);
  if (lock != nullptr) return lock->state() == v1::LOCK_STATE_WAITING;
  const auto* begin = dynamic_cast<const v1::BeginTransactionResponse*>(&response);
  return begin != nullptr && begin->state() == v1::LOCK_STATE_WAITING;
}

}  // namespace

SessionStream::SessionStream(Ports ports, Aborted aborted)
    : ports_(ports),
      aborted_(std::move(aborted)),
      lease_(kFirstLease),
      heard_(ports.clock.MonoNow()),
      wrote_(heard_),
      retry_at_(heard_),
      pause_(0),
      timer_due_(heard_) {}

SessionStream::~SessionStream() { Stop(); }

bool SessionStream::streaming() const {
  absl::MutexLock lock(&mutex_);
  if (state_ != State::kUnary) return state_ != State::kStopped;
  return !never_ && ports_.clock.MonoNow() >= retry_at_;
}

SessionStream::Counts SessionStream::counts() const {
  absl::MutexLock lock(&mutex_);
  return counts_;
}

void SessionStream::Stop() {
  Later later;
  Connection open;
  std::vector<Connection> retired;
  v1::SessionRequest last;
  {
    absl::MutexLock lock(&mutex_);
    if (state_ == State::kStopped) return;
    if (state_ == State::kOpen && !writing_) {
      AddSeen(last);
      last.set_end(true);
    }
    state_ = State::kStopped;
    alive_->store(false);
    if (timer_) ports_.executor.Cancel(*timer_);
    timer_.reset();
    open = std::move(connection_);
    retired.swap(retired_);
    const TransportReply cancelled{
        absl::CancelledError("the session is closed"), std::nullopt, true};
    while (!deadlines_.empty()) Finish(*OperationPtr(deadlines_.begin()->second), cancelled, later);
    queue_.clear();
    sent_.clear();
    waiting_.clear();
  }
  if (open && last.end()) open->Close(last);
  open.reset();
  retired.clear();
  for (auto& task : later) task();
}

// ---- calls ----

void SessionStream::Call(const std::string& method,
                         std::shared_ptr<const Message> request,
                         std::shared_ptr<Message> response,
                         MonoTime deadline,
                         Done done) {
  const FieldDescriptor* const field = FieldFor(request->GetDescriptor());
  auto operation = std::make_shared<Operation>();
  operation->method = method;
  operation->field = field;
  operation->request = std::move(request);
  operation->response = std::move(response);
  operation->deadline = deadline;
  operation->done = std::move(done);
  bool unary = field == nullptr;
  Later later;
  if (!unary) {
    absl::MutexLock lock(&mutex_);
    if (state_ == State::kUnary && !never_ && ports_.clock.MonoNow() >= retry_at_) {
      state_ = State::kIdle;
    }
    // A beat does not wait for a stream that is not there, but it is a reason to have one again.
    unary = state_ == State::kUnary || (IsBeat(field) && state_ != State::kOpen);
    if (unary) {
      ++counts_.unary;
      if (state_ == State::kIdle && ports_.clock.MonoNow() >= retry_at_) Connect();
      Pump();
      Arm();
    } else {
      Enqueue(std::move(operation), later);
    }
  }
  for (auto& task : later) task();
  if (unary) CallUnary(*operation, std::move(operation->done));
}

void SessionStream::CallUnary(Operation& operation, Done done) {
  if (operation.request->GetDescriptor() == v1::BeginTransactionRequest::descriptor()) {
    return ports_.executor.Post([done = std::move(done)]() mutable {
      done({absl::UnimplementedError("a fused begin needs a stream"), std::nullopt, true});
    });
  }
  const bool beat = operation.field != nullptr && IsBeat(operation.field);
  (beat ? ports_.heartbeats : ports_.calls)
      .Call(operation.method,
            operation.request,
            operation.response,
            operation.deadline,
            std::move(done));
}

void SessionStream::Enqueue(OperationPtr operation, Later& later) {
  if (state_ == State::kStopped) {
    later.push_back([this, done = std::move(operation->done)]() mutable {
      ports_.executor.Post([done = std::move(done)]() mutable {
        done({absl::CancelledError("the session is closed"), std::nullopt, false});
      });
    });
    return;
  }
  operation->ticket = ++last_ticket_;
  operation->bytes = static_cast<int64_t>(operation->request->ByteSizeLong());
  SetDue(operation, operation->deadline);
  if (IsBeat(operation->field)) {
    urgent_ = true;
    // Before all that has no number yet.
    const auto at = std::find_if(
        queue_.begin(), queue_.end(), [](const OperationPtr& other) { return other->number == 0; });
    queue_.insert(at, std::move(operation));
  } else {
    queue_.push_back(std::move(operation));
  }
  if (state_ == State::kIdle && ports_.clock.MonoNow() >= retry_at_) Connect();
  Pump();
  Arm();
}

void SessionStream::SetDue(const OperationPtr& operation, MonoTime due) {
  deadlines_.erase({operation->due, operation->ticket});
  operation->due = due;
  deadlines_[{due, operation->ticket}] = operation;
}

void SessionStream::Finish(Operation& operation, TransportReply reply, Later& later) {
  deadlines_.erase({operation.due, operation.ticket});
  if (!operation.done) return;
  later.push_back([done = std::exchange(operation.done, nullptr),
                   reply = std::move(reply)]() mutable { done(std::move(reply)); });
}

// ---- writing ----

void SessionStream::Connect() {
  if (id_.empty()) {
    const Uuid id = MakeUuid(ports_.random);
    id_.assign(id.begin(), id.end());
  }
  const MonoTime now = ports_.clock.MonoNow();
  if (!Unanswered()) heard_ = now;
  retry_at_ = now + std::max<std::chrono::nanoseconds>(pause_, std::chrono::milliseconds(50));
  state_ = State::kConnecting;
  ++epoch_;
  ++connections_;
  ++counts_.streams;
  hello_sent_ = false;
  writing_ = false;
  messages_.clear();
  const auto here = [this, alive = alive_, number = connections_](auto event) {
    return [this, alive, number, event](auto&&... arguments) {
      if (alive->load()) (this->*event)(number, std::forward<decltype(arguments)>(arguments)...);
    };
  };
  connection_ = ports_.connector.Open(
      {here(&SessionStream::Received), here(&SessionStream::Written), here(&SessionStream::Ended)});
}

bool SessionStream::MayWrite() const {
  if (!connection_ || writing_) return false;
  if (state_ == State::kConnecting) return !hello_sent_;
  return state_ == State::kOpen && (urgent_ || messages_.size() < kMessagesUnderWay);
}

void SessionStream::Pump() {
  if (!MayWrite()) return;
  v1::SessionRequest message;
  const MonoTime now = ports_.clock.MonoNow();
  if (!hello_sent_) {
    AddHello(message);
  } else {
    AddOperations(message);
    if (message.operations_size() == 0 && now - wrote_ < lease_ / 3) return;
  }
  AddSeen(message);
  writing_ = true;
  wrote_ = now;
  ++counts_.messages;
  connection_->Write(message);
}

// A session that begins brings its first operations along; one that goes on learns first what
// arrived.
void SessionStream::AddHello(v1::SessionRequest& message) {
  hello_sent_ = true;
  message.mutable_hello()->set_session_id(id_);
  message.mutable_hello()->set_epoch(epoch_);
  message.mutable_hello()->set_resume(known_);
  if (known_) return;
  credit_operations_ = kFirstOperations;
  credit_bytes_ = kFirstBytes;
  AddOperations(message);
}

// Beats are shortened once: what goes again on another stream of the session says the same.
void SessionStream::ShortenBeats() {
  std::vector<OperationPtr> beats;
  std::vector<const SessionBeats::Beat*> requests;
  for (const OperationPtr& operation : queue_) {
    if (!IsBeat(operation->field) || operation->shortened) continue;
    beats.push_back(operation);
    requests.push_back(static_cast<const SessionBeats::Beat*>(operation->request.get()));
  }
  const auto shortened = beats_.Shorten(requests);
  for (size_t i = 0; i < beats.size(); ++i) beats[i]->shortened = shortened[i];
}

void SessionStream::AddOperations(v1::SessionRequest& message) {
  int64_t bytes = 0;
  if (urgent_) ShortenBeats();
  urgent_ = false;
  while (!queue_.empty() && message.operations_size() < kOperationsPerMessage) {
    const OperationPtr operation = queue_.front();
    const bool given_up = !operation->done;
    if (given_up && operation->number == 0) {
      queue_.pop_front();
      continue;
    }
    const bool credit = std::ssize(sent_) < credit_operations_ &&
                        (sent_.empty() || sent_bytes_ + operation->bytes <= credit_bytes_);
    // What was numbered before goes again whatever the credit: the server counts it once.
    if (operation->number == 0 && !credit && !IsBeat(operation->field)) break;
    if (bytes > 0 && bytes + operation->bytes > kBytesPerMessage) break;
    queue_.pop_front();
    if (operation->number == 0) {
      if (sent_.empty()) heard_ = ports_.clock.MonoNow();
      operation->number = next_number_++;
      sent_[operation->number] = operation;
      sent_bytes_ += operation->bytes;
    }
    if (message.operations_size() == 0) messages_.insert(operation->number);
    v1::SessionOperation* const to = message.add_operations();
    to->set_number(operation->number);
    ++counts_.operations;
    // Nobody waits for it any more: only its number is needed, so that there is no gap.
    if (given_up) continue;
    bytes += operation->bytes;
    to->GetReflection()
        ->MutableMessage(to, operation->field)
        ->CopyFrom(operation->shortened ? *operation->shortened : *operation->request);
  }
}

void SessionStream::AddSeen(v1::SessionRequest& message) {
  message.set_answered_below(seen_below_);
  for (const int64_t number : seen_above_) message.add_answered_above(number);
  message.set_notices_below(notices_below_);
}

void SessionStream::NoteSeen(int64_t number) {
  if (number < seen_below_) return;
  seen_above_.insert(number);
  while (!seen_above_.empty() && *seen_above_.begin() == seen_below_) {
    seen_above_.erase(seen_above_.begin());
    ++seen_below_;
  }
}

void SessionStream::Written(int64_t connection) {
  absl::MutexLock lock(&mutex_);
  if (connection != connections_) return;
  writing_ = false;
  Pump();
  Arm();
}

// ---- reading ----

void SessionStream::Received(int64_t connection, v1::SessionResponse response) {
  Later later;
  {
    absl::MutexLock lock(&mutex_);
    if (connection != connections_ || state_ == State::kFencing) return;
    heard_ = ports_.clock.MonoNow();
    if (response.has_welcome()) Welcome(response.welcome());
    for (v1::SessionAnswer& answer : *response.mutable_answers()) Take(answer, later);
    for (const v1::SessionNotice& notice : response.notices()) Take(notice, later);
    Pump();
    Arm();
  }
  for (auto& task : later) task();
}

void SessionStream::Welcome(const v1::SessionWelcome& welcome) {
  state_ = State::kOpen;
  known_ = true;
  pause_ = std::chrono::nanoseconds(0);
  credit_operations_ = std::max<int64_t>(welcome.credit_operations(), 1);
  credit_bytes_ = std::max<int64_t>(welcome.credit_bytes(), 1);
  const auto lease = wire::FromProto(welcome.session_lease(), "session_lease");
  if (lease.ok() && lease->count() > 0) {
    lease_ = std::min<std::chrono::nanoseconds>(lease_, *lease);
  }
  // What was sent and did not arrive goes again, before what is new: numbers have no gap.
  std::erase_if(queue_, [](const OperationPtr& operation) { return operation->number != 0; });
  for (auto it = sent_.rbegin(); it != sent_.rend() && it->first >= welcome.next_number(); ++it) {
    queue_.push_front(it->second);
  }
}

void SessionStream::Take(v1::SessionAnswer& answer, Later& later) {
  const int64_t number = answer.number();
  auto message = messages_.upper_bound(number);
  if (message != messages_.begin()) messages_.erase(--message);
  const auto found = sent_.find(number);
  if (found == sent_.end()) return;
  const OperationPtr operation = found->second;
  sent_.erase(found);
  sent_bytes_ -= operation->bytes;
  NoteSeen(number);
  NoteTransactions(*operation, answer);
  if (!operation->done) return;  // its deadline was first
  if (answer.has_error()) {
    return Finish(*operation,
                  {wire::FromProto(answer.error()), wire::RetryDelay(answer.error()), true},
                  later);
  }
  const auto* reflection = answer.GetReflection();
  const FieldDescriptor* const field = ResponseField(operation->field);
  if (!reflection->HasField(answer, field)) {
    return Finish(*operation,
                  {MakeError(ErrorReason::kInternal,
                             "the server's answer to " + operation->method +
                                 " cannot be read: are server and client of one release?"),
                   std::nullopt,
                   true},
                  later);
  }
  operation->response->GetReflection()->Swap(operation->response.get(),
                                             reflection->MutableMessage(&answer, field));
  if (!IsWaiting(*operation->response)) return Finish(*operation, {}, later);
  // The grant comes as a notice; without one the call is told WAITING in time.
  waiting_[number] = operation;
  const std::chrono::nanoseconds left = operation->deadline - ports_.clock.MonoNow();
  SetDue(operation, operation->deadline - std::min<std::chrono::nanoseconds>(kMargin, left / 4));
}

void SessionStream::NoteLease(const v1::OpenTransactionsResponse& opened) {
  const auto lease = wire::FromProto(opened.txn_timeout(), "txn_timeout");
  if (!lease.ok() || lease->count() <= 0) return;
  lease_ = std::min<std::chrono::nanoseconds>(lease_, *lease);
}

// What the session opened, whoever still waits for the answer, and what has ended.
void SessionStream::NoteTransactions(const Operation& operation, const v1::SessionAnswer& answer) {
  if (answer.has_open_transactions()) {
    const v1::OpenTransactionsResponse& opened = answer.open_transactions();
    NoteLease(opened);
    beats_.Opened(opened.first_txn_id(), opened.count());
  } else if (answer.has_begin_transaction()) {
    // One that waits is nobody's to name: what the session sends keeps it alive.
    NoteLease(answer.begin_transaction().transaction());
    if (answer.begin_transaction().state() == v1::LOCK_STATE_ACQUIRED) {
      beats_.Opened(answer.begin_transaction().transaction().first_txn_id(), 1);
    }
  } else if (answer.has_commit_transaction()) {
    const auto& commit = static_cast<const v1::CommitTransactionRequest&>(*operation.request);
    beats_.Ended(commit.txn_id());
  } else if (answer.has_abort_transactions()) {
    for (const int64_t txn : answer.abort_transactions().aborted()) beats_.Ended(txn);
  } else if (answer.has_heartbeat_transactions() && operation.shortened) {
    beats_.Answered(static_cast<const SessionBeats::Beat&>(*operation.shortened));
  }
}

void SessionStream::Take(const v1::SessionNotice& notice, Later& later) {
  if (notice.number() < notices_below_) return;  // again
  notices_below_ = notice.number() + 1;
  if (notice.has_begun() && notice.begun().state() == v1::LOCK_STATE_ACQUIRED) {
    beats_.Opened(notice.begun().transaction().first_txn_id(), 1);
  }
  if (notice.has_lock() || notice.has_begun() || notice.has_failed()) {
    const auto found = waiting_.find(notice.operation());
    if (found == waiting_.end()) return;  // it was told WAITING, and goes on by itself
    const OperationPtr operation = found->second;
    waiting_.erase(found);
    if (operation->done && notice.has_lock()) operation->response->CopyFrom(notice.lock());
    if (operation->done && notice.has_begun()) operation->response->CopyFrom(notice.begun());
    TransportReply reply;
    if (notice.has_failed()) {
      reply = {wire::FromProto(notice.failed()), wire::RetryDelay(notice.failed()), true};
    }
    Finish(*operation, std::move(reply), later);
  } else if (notice.has_aborted_by_server()) {
    const auto cause = wire::FromProto(notice.aborted_by_server().abort_cause(), "abort_cause");
    later.push_back([this,
                     txn = TxnId(notice.aborted_by_server().txn_id()),
                     cause = cause.ok() ? *cause : AbortCause::kNone] { aborted_(txn, cause); });
  }
}

// ---- time ----

bool SessionStream::Unanswered() const {
  return !sent_.empty() || (state_ == State::kConnecting && !queue_.empty());
}

std::chrono::nanoseconds SessionStream::Patience() const { return lease_ / 6; }

// One timer for all that is due; it may fire early.
void SessionStream::Arm() {
  if (state_ == State::kStopped) return;
  MonoTime due = MonoTime::max();
  if (!deadlines_.empty()) due = deadlines_.begin()->first.first;
  const bool streaming = state_ == State::kOpen || state_ == State::kConnecting;
  if (streaming && Unanswered()) due = std::min(due, heard_ + Patience());
  if (streaming && writing_) due = std::min(due, wrote_ + Patience());
  if (state_ == State::kOpen && !writing_) due = std::min(due, wrote_ + lease_ / 3);
  if (state_ == State::kIdle && (!id_.empty() || !queue_.empty())) due = std::min(due, retry_at_);
  if (due == MonoTime::max()) return;
  if (timer_ && timer_due_ <= due) return;
  if (timer_) ports_.executor.Cancel(*timer_);
  timer_due_ = due;
  timer_ = ports_.executor.PostAt(due, [this, alive = alive_, number = ++timer_number_] {
    if (alive->load()) OnTimer(number);
  });
}

void SessionStream::OnTimer(uint64_t timer) {
  Later later;
  {
    absl::MutexLock lock(&mutex_);
    if (timer != timer_number_ || state_ == State::kStopped) return;
    timer_.reset();
    const MonoTime now = ports_.clock.MonoNow();
    Expire(now, later);
    const bool streaming = state_ == State::kOpen || state_ == State::kConnecting;
    const bool silent = Unanswered() && now - heard_ >= Patience();
    const bool stuck = writing_ && now - wrote_ >= Patience();
    if (streaming && (silent || stuck)) FallBack(later);
    const bool wanted = !id_.empty() || !queue_.empty();
    if (state_ == State::kIdle && wanted && now >= retry_at_) Connect();
    Pump();
    Arm();
  }
  for (auto& task : later) task();
}

void SessionStream::Expire(MonoTime now, Later& later) {
  while (!deadlines_.empty() && deadlines_.begin()->first.first <= now) {
    const OperationPtr operation = deadlines_.begin()->second;
    if (waiting_.erase(operation->number) > 0) {
      Finish(*operation, {}, later);  // WAITING, as the server said
      continue;
    }
    Finish(*operation,
           {absl::DeadlineExceededError("Deadline Exceeded"), std::nullopt, operation->number != 0},
           later);
  }
}

}  // namespace skep::client
