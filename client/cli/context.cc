#include "client/cli/context.h"

#include <utility>

#include "storage/base/status_macros.h"

namespace skep::cli {

std::string Run::endpoint() const {
  return global().endpoint.empty() ? context_.endpoint : global().endpoint;
}

absl::StatusOr<client::Session*> Run::session() {
  if (session_ != nullptr) return session_.get();
  client::SessionOptions options;
  options.endpoint = endpoint();
  options.user = context_.user;
  options.agent = "skepctl " + words();
  if (global().timeout.has_value()) options.call_deadline = *global().timeout;
  options.stream = false;  // one call or two
  // A person waits: a second and a half of attempts tells enough.
  options.retry.max_attempts = 6;
  SKEP_ASSIGN_OR_RETURN(session_, context_.connect(options));
  return session_.get();
}

absl::StatusOr<std::string> Run::Call(std::string_view method, const std::string& request) {
  SKEP_ASSIGN_OR_RETURN(client::Session * session, this->session());
  return client::JsonCalls(session->impl()).Call(method, request);
}

absl::StatusOr<std::string> Run::List(std::string_view method,
                                      const std::string& request,
                                      int64_t limit) {
  SKEP_ASSIGN_OR_RETURN(client::Session * session, this->session());
  return client::JsonCalls(session->impl()).List(method, request, limit);
}

void Run::Say(const std::string& line) {
  if (!global().quiet) context_.err << line << std::endl;
}

}  // namespace skep::cli
