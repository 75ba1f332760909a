#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "server/daemon/settings.h"

namespace skep::daemon {

// A value as a layer gave it.
struct RawValue {
  enum class Type { kText, kInteger, kFloat, kBoolean, kList, kOther };
  Type type =
      Type::kText;  // flags and environment give text only; a comma separates the items of a list
  std::vector<std::string> items;  // one, except for lists
};

// One key: the row that flag, variable, file entry, check, printed file and default come from.
struct Setting {
  std::string key;       // "txn.reaper_interval"
  std::string fallback;  // the default, as the file writes it
  std::string doc;       // one or two lines for the default file
  // Stores the value; the rule that it breaks, empty if none.
  std::function<std::string(const RawValue&, Settings*)> set;
  // The effective value, as the file writes it.
  std::function<std::string(const Settings&)> show;

  std::string FlagName() const;      // "--txn.reaper-interval"
  std::string VariableName() const;  // "SKEP_TXN_REAPER_INTERVAL"
};

// In the order of the default file.
const std::vector<Setting>& SettingTable();

// What no single key can tell. Each is (key, rule).
struct BrokenRule {
  std::string key;
  std::string rule;
};
std::vector<BrokenRule> CheckTogether(const Settings& settings);

// A text in the quotes of the file.
std::string Quote(const std::string& text);

}  // namespace skep::daemon
