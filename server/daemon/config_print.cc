#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/daemon/config.h"
#include "server/daemon/setting_table.h"

namespace skep::daemon {
namespace {

std::string SectionOf(const std::string& key) { return key.substr(0, key.find('.')); }
std::string NameOf(const std::string& key) { return key.substr(key.find('.') + 1); }

// Begins the section of `key` where it is another than the one before.
void OpenSection(const std::string& key, std::string* section, std::string* text) {
  if (SectionOf(key) == *section) return;
  *section = SectionOf(key);
  *text += fmt::format("\n[{}]\n", *section);
}

}  // namespace

std::string PrintDefaultConfig() {
  std::string text =
      "# Configuration of skepd. Every key is here with its default; what is commented out need "
      "not be written.\n"
      "# The same key as a flag: --txn.reaper-interval 30s; in the environment: "
      "SKEP_TXN_REAPER_INTERVAL=30s.\n"
      "# A flag wins over the environment, that over conf.d/*.toml beside this file, those over "
      "this file.\n"
      "# Check with skepd --check-config. Durations: 200ms, 30s, 5m, 12h, 7d. Sizes: 512KiB, "
      "4MiB.\n";
  std::string section;
  for (const Setting& setting : SettingTable()) {
    OpenSection(setting.key, &section, &text);
    // The number of cores is of the machine, not of the file.
    const std::string value = setting.key == "compactor.workers" ? "1" : setting.fallback;
    text += fmt::format("# {}\n#{} = {}\n", setting.doc, NameOf(setting.key), value);
  }
  return text;
}

std::string PrintConfig(const Config& config, const std::string& format) {
  if (format == "json") {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (const Setting& setting : SettingTable()) {
      object[setting.key] = {
          {"value", nlohmann::ordered_json::parse(setting.show(config.settings))},
          {"origin", config.origin.at(setting.key)}};
    }
    return object.dump(2) + "\n";
  }
  std::string text;
  std::string section;
  for (const Setting& setting : SettingTable()) {
    OpenSection(setting.key, &section, &text);
    text += fmt::format("{} = {}  # {}\n",
                        NameOf(setting.key),
                        setting.show(config.settings),
                        config.origin.at(setting.key));
  }
  return text.substr(1);
}

}  // namespace skep::daemon
