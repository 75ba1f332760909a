#include "server/daemon/command_line.h"

#include <CLI/CLI.hpp>

#include "server/daemon/exit_codes.h"
#include "server/daemon/setting_table.h"

namespace skep::daemon {

CommandLine ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  CLI::App app("Skep transaction server for Hive ACID tables", "skepd");
  app.add_option("--config",
                 line.config,
                 "Configuration file (default /etc/skep/skepd.toml, where it is there)")
      ->take_last();
  app.add_flag(
      "--check-config", line.check_config, "Check the configuration, report every problem, end");
  app.add_flag("--check-store{quick}",
               line.check_store,
               "Check the store of a daemon that is stopped, report every problem, end; "
               "--check-store=deep reads all of it")
      ->check(CLI::IsMember({"quick", "deep"}));
  app.add_flag("--print-config{toml}",
               line.print_config,
               "Print the effective configuration, and which layer each value came from");
  app.add_flag("--print-default-config",
               line.print_default_config,
               "Print a commented file with all defaults");
  app.add_flag("--version", line.version, "Print the version");
  std::map<std::string, std::vector<std::string>> given;
  for (const Setting& setting : SettingTable()) {
    CLI::Option* option = app.add_option(
        setting.FlagName(), given[setting.key], setting.doc + " [" + setting.fallback + "]");
    option->group("Settings (also " +
                  std::string("SKEP_SECTION_KEY in the environment, [section] key in the file)"));
    option->expected(1, 1000)->allow_extra_args(false);
  }
  try {  // CLI11 throws: it stops here
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.message = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    line.message =
        std::string("skepd: ") + error.what() + "\nRun skepd --help for what is allowed.\n";
    line.exit_code = kExitUsage;
    return line;
  }
  for (auto& [key, values] : given) {
    if (!values.empty()) line.settings.emplace(key, std::move(values));
  }
  return line;
}

}  // namespace skep::daemon
