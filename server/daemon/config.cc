#include "server/daemon/config.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "server/daemon/config_file.h"
#include "server/daemon/setting_table.h"
#include "server/daemon/setting_values.h"
#include "storage/base/text.h"

namespace skep::daemon {
namespace {

// A value of one layer that wins over those below.
struct Given {
  RawValue value;
  std::string place;
  bool flag = false;
};
using Layers = std::map<std::string, Given>;

constexpr int64_t kMistypedLetters = 2;

RawValue FromText(const std::vector<std::string>& texts) {
  RawValue value;
  for (const std::string& text : texts) {
    for (const std::string_view item : SplitText(text, ','))
      value.items.emplace_back(TrimBlanks(item));
  }
  // "--warehouse.roots ''" is the empty list.
  if (value.items.size() == 1 && value.items[0].empty()) value = {RawValue::Type::kList, {}};
  return value;
}

std::vector<std::string> FilesOf(const CommandLine& line, Config* config) {
  std::error_code error;
  std::string path = line.config;
  if (path.empty()) {
    if (!std::filesystem::exists(kDefaultConfigPath, error)) return {};
    path = kDefaultConfigPath;
  }
  std::vector<std::string> files{path};
  if (!std::filesystem::is_regular_file(path, error)) {
    config->problems.push_back(
        std::filesystem::exists(path, error)
            ? fmt::format("{}: is no file; give --config the path of a TOML file", path)
            : fmt::format("{}: no such file; correct --config", path));
    return {};
  }
  const std::filesystem::path more = std::filesystem::path(path).parent_path() / "conf.d";
  std::vector<std::string> added;
  for (std::filesystem::directory_iterator it(more, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".toml") added.push_back(it->path().string());
  }
  std::sort(added.begin(), added.end());
  files.insert(files.end(), added.begin(), added.end());
  return files;
}

void AddFile(const std::string& path, Layers* layers, Config* config) {
  FileContent content = ReadConfigFile(path);
  for (std::string& problem : content.problems) config->problems.push_back(std::move(problem));
  for (FileEntry& entry : content.entries) {
    const auto& table = SettingTable();
    const bool known = std::any_of(
        table.begin(), table.end(), [&](const Setting& s) { return s.key == entry.key; });
    if (known) {
      (*layers)[entry.key] = {std::move(entry.value), std::move(entry.place)};
      continue;
    }
    std::vector<std::string> names;
    for (const Setting& setting : table) names.push_back(setting.key);
    const std::string nearest = NearestName(entry.key, names);
    config->problems.push_back(
        fmt::format("{}: {}: unknown key{}",
                    entry.place,
                    Printable(entry.key),
                    nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  }
}

std::string ShowRaw(const RawValue& value) { return Printable(JoinText(value.items, ",")); }

void Apply(const Layers& layers, Config* config) {
  bool others_are_wrong = !config->problems.empty();
  for (const Setting& setting : SettingTable()) {
    config->origin[setting.key] = "default";
    const auto given = layers.find(setting.key);
    if (given == layers.end()) continue;
    const std::string broken = setting.set(given->second.value, &config->settings);
    config->origin[setting.key] = given->second.place;
    if (broken.empty()) continue;
    config->problems.push_back(fmt::format("{}: {} = {}: must be {}",
                                           given->second.place,
                                           setting.key,
                                           ShowRaw(given->second.value),
                                           broken));
    others_are_wrong |= !given->second.flag;
  }
  if (config->problems.empty()) {
    for (const BrokenRule& rule : CheckTogether(config->settings)) {
      const std::string& place = config->origin.at(rule.key);
      config->problems.push_back(fmt::format("{}: {}: must be {}", place, rule.key, rule.rule));
      others_are_wrong |= !place.starts_with("--");
    }
  }
  config->only_flags_are_wrong = !config->problems.empty() && !others_are_wrong;
}

// Other programs have variables of this prefix too (the tool, tests): only a name that is nearly a
// setting's is taken for a mistake.
void FindMistyped(const Environment& environment, Config* config) {
  std::vector<std::string> names;
  for (const Setting& setting : SettingTable()) names.push_back(setting.VariableName());
  for (const auto& [name, value] : environment) {
    const std::string nearest = NearestName(name, names);
    if (nearest.empty() || nearest == name || EditDistance(name, nearest) > kMistypedLetters)
      continue;
    config->problems.push_back(fmt::format(
        "{}: no such setting in the environment; did you mean {}?", Printable(name), nearest));
  }
}

// The default of a setting as a value: it is written as in the file.
void ApplyDefaults(Settings* settings) {
  for (const Setting& setting : SettingTable()) {
    const std::string& text = setting.fallback;
    RawValue value;
    if (text.starts_with('[')) {
      value.type = RawValue::Type::kList;
      const std::string inner = text.substr(1, text.size() - 2);  // the parts are views of it
      for (const std::string_view item : SplitText(inner, ',')) {
        const std::string_view quoted = TrimBlanks(item);
        if (!quoted.empty()) value.items.emplace_back(quoted.substr(1, quoted.size() - 2));
      }
    } else {
      value.items.push_back(text.starts_with('"') ? text.substr(1, text.size() - 2) : text);
    }
    setting.set(value, settings);
  }
}

}  // namespace

Environment ProcessEnvironment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t end = text.find('=');
    if (!text.starts_with("SKEP_") || end == std::string_view::npos) continue;
    variables[std::string(text.substr(0, end))] = std::string(text.substr(end + 1));
  }
  return variables;
}

Config LoadConfig(const CommandLine& line, const Environment& environment) {
  Config config;
  ApplyDefaults(&config.settings);
  Layers layers;
  FindMistyped(environment, &config);
  for (const std::string& file : FilesOf(line, &config)) AddFile(file, &layers, &config);
  for (const Setting& setting : SettingTable()) {
    if (const auto found = environment.find(setting.VariableName()); found != environment.end()) {
      layers[setting.key] = {FromText({found->second}), found->first};
    }
    const auto flag = line.settings.find(setting.key);
    if (flag != line.settings.end())
      layers[setting.key] = {FromText(flag->second), setting.FlagName(), true};
  }
  Apply(layers, &config);
  return config;
}

}  // namespace skep::daemon
