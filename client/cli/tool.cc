#include "client/cli/tool.h"

#include <variant>

#include "client/cli/command_line.h"
#include "client/cli/commands.h"
#include "client/cli/error_text.h"
#include "client/cli/exit_codes.h"
#include "client/cli/usage.h"
#include "storage/base/text.h"

namespace skep::cli {

namespace {

// "cannot …": commands are verbs, but for one.
std::string Deed(const std::string& words) { return words == "status" ? "show the status" : words; }

}  // namespace

int RunTool(const std::vector<std::string>& arguments, Context& context) {
  for (const std::string& argument : arguments) {
    if (IsValidUtf8(argument)) continue;
    context.err << "skepctl: the argument " << Printable(argument) << " is not valid UTF-8\n";
    return kUsage;
  }
  std::variant<Invocation, CommandLineAnswer> parsed = ParseCommandLine(arguments);
  if (const auto* answer = std::get_if<CommandLineAnswer>(&parsed)) {
    (answer->exit_code == kDone ? context.out : context.err) << answer->text;
    return answer->exit_code;
  }
  const Invocation& invocation = std::get<Invocation>(parsed);
  Run run(context, invocation);
  absl::StatusOr<int> code = std::visit(
      [&run](const auto& options) { return RunCommand(run, options); }, invocation.command);
  context.out.flush();
  if (code.ok()) return *code;
  // A reader that went away (`| head`) is nobody to complain to.
  if (!context.out.good()) return kDone;
  const std::string endpoint =
      invocation.global.endpoint.empty() ? context.endpoint : invocation.global.endpoint;
  context.err << ErrorText(Deed(invocation.words),
                           code.status(),
                           endpoint,
                           invocation.global.verbose ? Detail::kVerbose : Detail::kShort);
  return IsUsage(code.status()) ? kUsage : ExitCodeOf(code.status());
}

}  // namespace skep::cli
