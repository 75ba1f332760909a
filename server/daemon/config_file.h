#pragma once

#include <string>
#include <vector>

#include "server/daemon/setting_table.h"

namespace skep::daemon {

// One entry of a configuration file, and where it stands.
struct FileEntry {
  std::string key;  // "txn.timeout"
  RawValue value;
  std::string place;  // "/etc/skep/skepd.toml:12:3"
};

struct FileContent {
  std::vector<FileEntry> entries;
  std::vector<std::string> problems;  // "PLACE: what is wrong", the whole file's syntax included
};

// Reads one TOML file. Whether keys and values mean anything is not looked at here.
FileContent ReadConfigFile(const std::string& path);

}  // namespace skep::daemon
