#pragma once

// A client and a real server core in one thread under virtual time: sessions and unary calls go
// through pipes that the test breaks wherever it likes.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "client/session/session_connector.h"
#include "proto/wire/status_wire.h"
#include "server/loop/loop_port.h"
#include "server/rpc/services.h"
#include "server/rpc/session_service.h"
#include "storage/fs/posix_file_system.h"
#include "tests/client/session/fakes.h"
#include "tests/server/rpc/fake_directories.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/status_matchers.h"

namespace skep::client {

// The server: core, handlers, sessions. A restart leaves what the store holds.
class ServerCore {
 public:
  ServerCore(testing::MemoryStore& store, testing::ManualClock& clock, Executor& executor)
      : clock_(clock), executor_(executor) {
    auto opened = loop::BatchCore::Open(options_, store, clock, executor);
    EXPECT_TRUE(opened.ok()) << opened.status();
    core = *std::move(opened);
    port_ = std::make_unique<loop::LoopPort>(*core, executor);
    dependencies_ = std::make_unique<rpc::Dependencies>(
        rpc::Dependencies{*port_, executor, fs_, directories_, facts_});
    for (loop::Service& service : rpc::MakeServices(*dependencies_)) {
      for (loop::Method& method : service.methods) {
        const std::string path = method.path;
        methods_.emplace(path, std::move(method));
      }
    }
    service = std::make_unique<rpc::SessionService>(
        loop::Sessions::Options{}, rpc::MakeServices(*dependencies_), *core);
  }
  ~ServerCore() {
    service.reset();
    core.reset();
  }

  using Answer = std::function<void(const grpc::Status&, const std::string& bytes)>;

  // A unary call; `answer` is called once, possibly inside.
  void Call(const std::string& method, const std::string& request, Answer answer) {
    if (method == "/skep.v1.SessionService/FenceSession") {
      auto stream = std::make_shared<Pipe>(loop::Sessions::kFence);
      service->sessions().Message(*stream, request);
      answer(stream->status, stream->bytes);
      return;
    }
    calls_.push_back(std::make_unique<UnaryCall>(*this, methods_.at(method), request, answer));
    core->Run(*calls_.back());
    EndRound();
  }

  // What the loop does between events.
  void EndRound() {
    if (round_posted_) return;
    round_posted_ = true;
    executor_.Post([this, alive = std::weak_ptr<bool>(alive_)] {
      if (!alive.lock()) return;
      round_posted_ = false;
      core->Flush();
      if (core->HasUnit()) EndRound();  // what the answers of the unit asked for
    });
  }

  absl::StatusOr<state::TxnInfo> Txn(int64_t id) const {
    return core->state().GetTxn(TxnId(id), {clock_.Now(), clock_.MonoNow()});
  }
  template <class Run>
  void OnState(Run run) {
    core->RunOwned(loop::MakeCommand(
        [&run](state::State& state, state::Now now, state::Unit& unit) { run(state, now, unit); },
        [](const absl::Status&) {}));
    core->Flush();
  }

  std::unique_ptr<loop::BatchCore> core;
  std::unique_ptr<rpc::SessionService> service;

  // The server's end of a stream that is read at once.
  class Pipe final : public loop::Stream {
   public:
    explicit Pipe(int method) : method_(method) {}
    int method() const override { return method_; }
    void WriteBytes(std::string message) override {
      bytes = message;
      if (on_write) on_write(std::move(message));
    }
    bool busy() const override { return false; }
    void Finish(const grpc::Status& with) override {
      if (std::exchange(finished, true)) return;
      status = with;
      if (on_finish) on_finish(with);
    }
    void Cut() override { Finish({grpc::StatusCode::CANCELLED, "cut"}); }

    std::function<void(std::string)> on_write;
    std::function<void(const grpc::Status&)> on_finish;
    std::string bytes;
    grpc::Status status;
    bool finished = false;

   private:
    const int method_;
  };

 private:
  class UnaryCall final : public loop::Call, public loop::Command {
   public:
    UnaryCall(ServerCore& server, loop::Method& method, std::string request, Answer answer)
        : server_(server),
          method_(method),
          request_(std::move(request)),
          answer_(std::move(answer)) {}

    bool Read(google::protobuf::MessageLite* request) override {
      return request->ParseFromString(request_);
    }
    void Reply(const google::protobuf::MessageLite& response) override {
      bytes_ = response.SerializeAsString();
      status_ = grpc::Status();
    }
    void Refuse(const absl::Status& status) override { status_ = wire::ToGrpc(status); }
    void Send() override {
      if (answer_) std::exchange(answer_, nullptr)(status_, bytes_);
    }
    MonoTime deadline() const override {
      return server_.clock_.MonoNow() + std::chrono::seconds(5);
    }
    loop::Verdict Decide(state::State& state, state::Now now, state::Unit& unit) override {
      loop::CallContext context{*this, *server_.core, state, now, unit};
      return method_.run(context);
    }
    void Durable() override { Send(); }
    void Failed(const absl::Status& status) override {
      Refuse(status);
      Send();
    }

   private:
    ServerCore& server_;
    loop::Method& method_;
    std::string request_;
    std::string bytes_;
    grpc::Status status_;
    Answer answer_;
  };

  testing::ManualClock& clock_;
  Executor& executor_;
  loop::BatchCore::Options options_;
  fs::PosixFileSystem fs_;
  rpc::FakeDirectories directories_;
  rpc::ServerFacts facts_;
  std::unique_ptr<loop::LoopPort> port_;
  std::unique_ptr<rpc::Dependencies> dependencies_;
  std::map<std::string, loop::Method> methods_;
  std::vector<std::unique_ptr<UnaryCall>> calls_;
  bool round_posted_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// What the network does with one message of a stream.
enum class Trouble {
  kNone,
  kBreakBefore,  // the message is lost, then the stream breaks
  kBreakAfter,   // the message arrives, then the stream breaks
  kSilence,      // this message and all later ones of the stream vanish, and nobody is told
};

class StreamWorld : public SessionConnector, public Transport {
 public:
  StreamWorld() : server(NewServer()) {}
  ~StreamWorld() override = default;

  std::unique_ptr<Session> NewSession() {
    return std::make_unique<Session>(std::make_shared<SessionImpl>(
        options,
        SessionPorts{*this, *this, executor, executor, clock, random, blocker, nullptr, this}));
  }
  void Restart() {
    for (const auto& stream : streams_) stream->server_gone = true;
    for (const auto& stream : std::exchange(streams_, {})) Break(stream);
    server.reset();
    server = NewServer();
  }
  void CreateTable(const std::string& table) {
    server->OnState([&](state::State& state, state::Now now, state::Unit& unit) {
      state::CreateTable command;
      command.name = {"sales", table};
      command.schema.columns = *ParseColumns("id bigint");
      command.schema.partition_columns = *ParseColumns("p int");
      command.location = "/w/sales.db/" + table;
      EXPECT_THAT(state.Create(command, now, unit), testing::IsOk());
    });
  }

  // Called for each message of a stream; `up`: from the client.
  std::function<Trouble(bool up)> trouble;
  bool no_sessions = false;  // an old server
  bool unreachable = false;  // streams
  bool unary_down = false;   // unary calls
  int64_t unary_calls = 0;
  std::vector<std::string> unary_methods;

  // ---- SessionConnector ----
  std::unique_ptr<SessionConnection> Open(SessionEvents events) override {
    auto stream = std::make_shared<StreamPair>();
    stream->events = std::move(events);
    if (unreachable || no_sessions) {
      const absl::Status status = no_sessions ? absl::UnimplementedError("unknown service")
                                              : absl::UnavailableError("failed to connect");
      Post(stream,
           [status, connected = no_sessions](StreamPair& s) { s.events.ended(status, connected); });
    } else {
      streams_.push_back(stream);
      stream->pipe.on_write = [this, weak = std::weak_ptr<StreamPair>(stream)](std::string bytes) {
        if (const auto s = weak.lock()) Down(s, std::move(bytes));
      };
      stream->pipe.on_finish =
          [this, weak = std::weak_ptr<StreamPair>(stream)](const grpc::Status& status) {
            const auto s = weak.lock();
            if (!s || s->silent) return;
            Post(s, [status](StreamPair& open) {
              if (!std::exchange(open.ended, true)) open.events.ended(wire::FromGrpc(status), true);
            });
          };
    }
    return std::make_unique<ClientEnd>(*this, stream);
  }

  // ---- Transport: unary ----
  void Call(const std::string& method,
            std::shared_ptr<const google::protobuf::Message> request,
            std::shared_ptr<google::protobuf::Message> response,
            MonoTime deadline,
            Done done) override {
    ++unary_calls;
    unary_methods.push_back(method.substr(method.rfind('/') + 1));
    auto once = std::make_shared<Done>(std::move(done));
    const auto finish = [once](TransportReply reply) {
      if (*once) std::exchange(*once, nullptr)(std::move(reply));
    };
    executor.PostAt(deadline, [finish] {
      finish({absl::DeadlineExceededError("Deadline Exceeded"), std::nullopt, true});
    });
    executor.Post([this, method, request, response, finish] {
      if (unary_down) return finish({absl::UnavailableError("gone"), std::nullopt, true});
      server->Call(method,
                   request->SerializeAsString(),
                   [this, response, finish](const grpc::Status& status, const std::string& bytes) {
                     executor.Post([status, bytes, response, finish] {
                       if (status.ok()) response->ParseFromString(bytes);
                       finish({wire::FromGrpc(status), wire::RetryDelay(status), true});
                     });
                   });
    });
  }

  testing::ManualClock clock;
  FakeExecutor executor{clock};
  PumpBlocker blocker{executor};
  SeededRandom random{17};
  testing::MemoryStore store;
  SessionOptions options{.endpoint = "unix:/none", .user = "ann", .host = "host1", .agent = "test"};
  std::unique_ptr<ServerCore> server;

 private:
  struct StreamPair {
    ServerCore::Pipe pipe{loop::Sessions::kSession};
    SessionEvents events;
    bool silent = false;       // nothing arrives any more, either way
    bool ended = false;        // the client was told, or has gone
    bool closed = false;       // the server was told
    bool server_gone = false;  // it was restarted
  };
  using StreamPtr = std::shared_ptr<StreamPair>;

  class ClientEnd final : public SessionConnection {
   public:
    ClientEnd(StreamWorld& world, StreamPtr stream) : world_(world), stream_(std::move(stream)) {}
    ~ClientEnd() override {
      stream_->ended = true;
      stream_->events = {};
      world_.TellServer(stream_);
    }
    void Write(const v1::SessionRequest& message) override {
      world_.Up(stream_, message.SerializeAsString());
    }
    void Cancel() override {
      world_.Post(stream_, [](StreamPair& s) {
        if (!std::exchange(s.ended, true)) s.events.ended(absl::CancelledError("cancelled"), true);
      });
      world_.TellServer(stream_);
    }
    void Close(const v1::SessionRequest& last) override {
      if (!stream_->silent && !stream_->closed && !stream_->server_gone) {
        world_.server->service->sessions().Message(stream_->pipe, last.SerializeAsString());
      }
      stream_->events = {};
    }

   private:
    StreamWorld& world_;
    const StreamPtr stream_;
  };

  std::unique_ptr<ServerCore> NewServer() {
    return std::make_unique<ServerCore>(store, clock, executor);
  }

  void Post(const StreamPtr& stream, std::function<void(StreamPair&)> task) {
    executor.Post([stream, task] {
      if (stream->events.ended) task(*stream);
    });
  }
  // The server hears that the stream is over, unless the network says nothing.
  void TellServer(const StreamPtr& stream) {
    executor.Post([this, stream] {
      if (stream->silent || stream->server_gone || std::exchange(stream->closed, true)) return;
      server->service->sessions().Closed(stream->pipe);
    });
  }
  void Break(const StreamPtr& stream) {
    Post(stream, [](StreamPair& s) {
      if (!std::exchange(s.ended, true)) {
        s.events.ended(absl::UnavailableError("connection reset"), true);
      }
    });
    TellServer(stream);
  }
  // One message, with what the network does to it.
  template <class Deliver>
  void Carry(const StreamPtr& stream, bool up, Deliver deliver) {
    const Trouble what = trouble && !stream->ended ? trouble(up) : Trouble::kNone;
    if (what == Trouble::kSilence) stream->silent = true;
    if (stream->silent) return;
    if (what != Trouble::kBreakBefore) deliver();
    if (what != Trouble::kNone) Break(stream);
  }
  void Up(const StreamPtr& stream, std::string bytes) {
    executor.Post([this, stream, bytes] {
      if (stream->ended || stream->closed || stream->server_gone) return;
      Carry(stream, true, [&] {
        server->service->sessions().Message(stream->pipe, bytes);
        server->EndRound();
      });
      if (!stream->silent) Post(stream, [](StreamPair& s) { s.events.written(); });
    });
  }
  void Down(const StreamPtr& stream, std::string bytes) {
    executor.Post([this, stream, bytes] {
      if (stream->ended) return;
      Carry(stream, false, [&] {
        v1::SessionResponse response;
        EXPECT_TRUE(response.ParseFromString(bytes));
        if (stream->events.received) stream->events.received(std::move(response));
      });
    });
  }

  std::vector<StreamPtr> streams_;
};

}  // namespace skep::client
