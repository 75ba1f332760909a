#pragma once

#include <map>
#include <string>
#include <vector>

namespace skep::daemon {

struct CommandLine {
  std::string config;  // empty: the default place
  bool check_config = false;
  std::string check_store;   // "quick", "deep", empty: no
  std::string print_config;  // "toml", "json", empty: no
  bool print_default_config = false;
  bool version = false;
  std::map<std::string, std::vector<std::string>> settings;  // by key: the flags that were given

  // Not empty: print and end with `exit_code`.
  std::string message;
  int exit_code = 0;
};

CommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace skep::daemon
