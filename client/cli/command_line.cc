#include "client/cli/command_line.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>

#include "client/cli/command_definitions.h"
#include "client/cli/exit_codes.h"
#include "client/cli/human.h"
#include "client/cli/nearest.h"
#include "client/cli/version.h"
#include "storage/base/text.h"

namespace skep::cli {
namespace {

constexpr char kPurpose[] = R"(skepctl: look at and steer a Skep server.

Examples:
  skepctl status
  skepctl show transactions --older-than 1h
  skepctl explain lock 42
  skepctl compact sales.orders --type major --wait
  skepctl read sales.orders --where 'status = "NEW"' --limit 10
  skepctl dump /warehouse/sales.db/orders -o jsonl
)";

constexpr char kFooter[] =
    "Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict or aborted, 5 not allowed,\n"
    "6 unavailable (a retry may help), 7 --wait ended by --timeout, 130 interrupted.\n";

// Under the help of each command.
constexpr char kGlobalHint[] =
    "Every command also takes --json and -o, --columns, --sort, --limit, --timeout, --endpoint "
    "and\n"
    "the other options of skepctl --help.\n";

constexpr std::pair<const char*, Output> kOutputs[] = {{"table", Output::kTable},
                                                       {"wide", Output::kWide},
                                                       {"json", Output::kJson},
                                                       {"jsonl", Output::kJsonl},
                                                       {"csv", Output::kCsv},
                                                       {"tsv", Output::kTsv},
                                                       {"hive", Output::kHive},
                                                       {"name", Output::kName}};

// Commands are listed by their first line; the examples below it belong to their own help.
class FirstLines : public CLI::Formatter {
 public:
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    const std::string text = command->get_description();
    CLI::detail::format_help(
        out, command->get_name(), text.substr(0, text.find('\n')), get_column_width());
    return out.str();
  }

  // "--state STATE ...", "--type TYPE (required)": what to give, without CLI11's own notes.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name().substr(0, option->get_type_name().find(':'));
    std::string text;
    if (option->get_items_expected_max() > 0 && !option->get_positional()) text += " " + type;
    if (option->get_items_expected_max() > 1) text += " ...";
    if (!option->get_default_str().empty()) text += " (default " + option->get_default_str() + ")";
    if (option->get_required() && !option->get_positional()) text += " (required)";
    return text;
  }
};

// Text of the global flags before it is understood.
struct RawGlobal {
  std::string output;
  bool json = false;
  std::string columns;
  std::string limit;
  std::string timeout;
  bool utc = false;
};

std::string CheckOutput(const std::string& text) {
  std::vector<std::string> names;
  for (const auto& [name, output] : kOutputs) {
    if (text == name) return "";
    names.push_back(name);
  }
  return "there are " + JoinText(names, ", ");
}

void DefineGlobals(CLI::App& app, RawGlobal& raw, GlobalOptions& global) {
  app.add_option(
         "-e,--endpoint",
         global.endpoint,
         "unix:/path/to/skepd.sock or HOST:PORT (or SKEP_ENDPOINT; default the local socket)")
      ->type_name("ENDPOINT");
  app.add_option("-o,--output", raw.output, "table, wide, json, jsonl, csv, tsv, hive or name")
      ->type_name("FORM")
      ->check(CheckOutput);
  app.add_flag("--json", raw.json, "the same as -o json: the server's reply, all pages joined");
  app.add_option(
         "--timeout", raw.timeout, "of each call, as 500ms, 30s, 5m (default 10s; --wait: none)")
      ->type_name("SPAN")
      ->check(CheckSpan);
  app.add_option("--limit", raw.limit, "at most so many rows")->type_name("N")->check(CheckId);
  app.add_option("--columns", raw.columns, "titles to show, as a,b")->type_name("TITLES");
  app.add_option("--sort", global.sort, "by a title; -TITLE descending")->type_name("TITLE");
  app.add_flag("--no-headers", global.no_headers, "no line of titles");
  auto* utc = app.add_flag("--utc", raw.utc, "times in UTC (default)");
  app.add_flag("--local", global.local_time, "times in this machine's zone")->excludes(utc);
  app.add_flag("-y,--yes", global.yes, "answer yes to questions");
  app.add_flag("--no-input", global.no_input, "ask nothing; what would be asked is an error");
  app.add_flag("--dry-run", global.dry_run, "show what abort or drop would do, and do nothing");
  app.add_flag("-q,--quiet", global.quiet, "results only");
  app.add_flag("-v,--verbose", global.verbose, "details of errors");
  app.set_version_flag("--version", "skepctl " + std::string(kVersion), "print the version");
}

void Understand(const RawGlobal& raw, GlobalOptions& global) {
  for (const auto& [name, output] : kOutputs) {
    if (raw.output == name) global.output = output;
  }
  if (raw.json) global.output = Output::kJson;
  if (!raw.timeout.empty()) global.timeout = ParseSpan(raw.timeout);
  if (!raw.limit.empty()) global.limit = ParseInt64(raw.limit).value_or(0);
  if (raw.columns.empty()) return;
  for (std::string_view column : SplitText(raw.columns, ',')) {
    global.columns.emplace_back(TrimBlanks(column));
  }
}

std::string FullName(const CLI::App* app) {
  if (app->get_parent() == nullptr) return "skepctl";
  return FullName(app->get_parent()) + " " + app->get_name();
}

std::string HelpOf(const CLI::App* app) {
  if (app->get_parent() == nullptr) return app->help();
  return app->help(FullName(app->get_parent())) + kGlobalHint;
}

// Takes the option's value as well, where it stands in the next argument.
bool TakesNextArgument(const CLI::App* app, const std::string& argument) {
  if (argument.find('=') != std::string::npos) return false;
  for (; app != nullptr; app = app->get_parent()) {
    const CLI::Option* option = app->get_option_no_throw(argument);
    if (option != nullptr) return option->get_items_expected_min() > 0;
  }
  return false;
}

const CLI::App* FindCommand(const CLI::App* app, const std::string& name) {
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::vector<std::string> NamesOfCommands(const CLI::App* app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// Walks the words of the command itself. Says what is wrong with them, before CLI11 does in its own
// words.
std::optional<CommandLineAnswer> CheckWords(const CLI::App& root,
                                            const std::vector<std::string>& arguments) {
  const CLI::App* app = &root;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-h" || argument == "--help" || argument == "--version") return std::nullopt;
    if (!argument.empty() && argument[0] == '-') {
      if (TakesNextArgument(app, argument)) ++i;
      continue;
    }
    const std::vector<std::string> names = NamesOfCommands(app);
    if (names.empty()) return std::nullopt;
    const CLI::App* command = FindCommand(app, argument);
    if (command == nullptr) {
      std::string text = FullName(app) + ": there is no command '" + Printable(argument) + "'.";
      const std::string nearest = Nearest(argument, names);
      text += nearest.empty() ? " There are " + JoinText(names, ", ") + ".\n"
                              : " Did you mean '" + nearest + "'?\n";
      return CommandLineAnswer{kUsage, text};
    }
    app = command;
  }
  if (NamesOfCommands(app).empty()) return std::nullopt;
  return CommandLineAnswer{kUsage, HelpOf(app)};
}

// A flag that no command on the way knows: the one that is near.
std::string NearestFlag(const CLI::App& root, const std::vector<std::string>& arguments) {
  const CLI::App* app = &root;
  std::vector<std::string> flags;
  auto add_flags = [&flags](const CLI::App* from) {
    for (const CLI::Option* option : from->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
  };
  add_flags(app);
  for (const std::string& argument : arguments) {
    if (const CLI::App* command = FindCommand(app, argument)) {
      app = command;
      add_flags(app);
    } else if (argument.rfind("--", 0) == 0) {
      const std::string flag = argument.substr(0, argument.find('='));
      if (std::find(flags.begin(), flags.end(), flag) != flags.end()) continue;
      const std::string nearest = Nearest(flag, flags);
      return nearest.empty() ? "" : " Did you mean " + nearest + "?";
    }
  }
  return "";
}

// Rows in another order than was asked for are worse than an error.
std::string SortMisfit(const Invocation& invocation) {
  if (invocation.global.sort.empty()) return {};
  const bool lists = std::visit(
      [](const auto& command) {
        using AnyCommand = std::decay_t<decltype(command)>;
        return std::is_same_v<AnyCommand, ShowTransactions> ||
               std::is_same_v<AnyCommand, ShowLocks> ||
               std::is_same_v<AnyCommand, ShowCompactions> ||
               std::is_same_v<AnyCommand, ShowTables> || std::is_same_v<AnyCommand, ShowDeltas>;
      },
      invocation.command);
  if (!lists) {
    return "--sort is for show transactions, locks, compactions, tables and deltas; " +
           invocation.words + " has no order to choose.";
  }
  const Output output = invocation.global.OutputOr(Output::kTable);
  if (output == Output::kJson || output == Output::kJsonl || output == Output::kHive) {
    return "--sort is for -o table, wide, csv, tsv and name; the other outputs come as the server "
           "gives them.";
  }
  return {};
}

}  // namespace

std::variant<Invocation, CommandLineAnswer> ParseCommandLine(
    const std::vector<std::string>& arguments) {
  Invocation invocation;
  RawGlobal raw;
  CLI::App app(kPurpose);
  app.name("skepctl");
  app.formatter(std::make_shared<FirstLines>());
  app.fallthrough();
  app.require_subcommand(1);
  DefineGlobals(app, raw, invocation.global);
  const Choose choose = [&invocation](Command command, std::string words) {
    invocation.command = std::move(command);
    invocation.words = std::move(words);
  };
  DefineCommands(app, choose);
  app.footer(kFooter);
  if (std::optional<CommandLineAnswer> answer = CheckWords(app, arguments)) return *answer;
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    // The innermost command on the line is the one that is asked about.
    const CLI::App* asked = &app;
    for (const std::string& argument : arguments) {
      if (const CLI::App* command = FindCommand(asked, argument)) asked = command;
    }
    return CommandLineAnswer{kDone, HelpOf(asked)};
  } catch (const CLI::CallForVersion& version) {
    return CommandLineAnswer{kDone, std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    return CommandLineAnswer{kUsage,
                             "skepctl: " + Printable(error.what()) + "." +
                                 NearestFlag(app, arguments) + " Help: skepctl --help\n"};
  }
  Understand(raw, invocation.global);
  if (const std::string misfit = SortMisfit(invocation); !misfit.empty())
    return CommandLineAnswer{kUsage, "skepctl: " + misfit + "\n"};
  return invocation;
}

}  // namespace skep::cli
