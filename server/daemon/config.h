#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/daemon/command_line.h"
#include "server/daemon/settings.h"

namespace skep::daemon {

inline constexpr char kDefaultConfigPath[] = "/etc/skep/skepd.toml";

// The layers put together: flag > environment > conf.d/*.toml beside the file, in name order > file
// > default. No layer switches another off; a list of a higher layer replaces the lower one's.
struct Config {
  Settings settings;
  std::map<std::string, std::string>
      origin;  // of each key: "default", a place in a file, a variable, a flag
  std::vector<std::string> problems;  // all of them: "PLACE: KEY = VALUE: rule"
  bool only_flags_are_wrong = false;
};

// The variables whose names begin with SKEP_; a parameter so that tests need not change theirs.
using Environment = std::map<std::string, std::string>;
Environment ProcessEnvironment();

Config LoadConfig(const CommandLine& line, const Environment& environment);

// The commented file with all defaults: deploy/skepd.toml.
std::string PrintDefaultConfig();
// The effective values; itself a valid file ("toml"), or an object of "key": {"value", "origin"}
// ("json").
std::string PrintConfig(const Config& config, const std::string& format);

}  // namespace skep::daemon
