#include "server/daemon/config.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/daemon/config_check.h"
#include "server/daemon/config_file.h"
#include "server/daemon/setting_table.h"
#include "tests/testing/temp_dir.h"

namespace skep::daemon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ConfigTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = dir_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  // The layers that a case gives; a file is skepd.toml.
  Config Load(std::vector<std::string> flags = {}) {
    std::vector<const char*> argv{"skepd"};
    flags.insert(flags.begin(), {"--config", dir_.path() + "/skepd.toml"});
    for (const std::string& flag : flags) argv.push_back(flag.c_str());
    const CommandLine line = ParseCommandLine(static_cast<int>(argv.size()), argv.data());
    EXPECT_EQ(line.message, "");
    return LoadConfig(line, environment_);
  }

  testing::TempDir dir_;
  Environment environment_;
};

TEST_F(ConfigTest, EachLayerWinsOverThoseBelowIt) {
  struct Case {
    const char* name;
    bool file, more, variable, flag;
    int64_t seconds;
    const char* origin;
  };
  const Case cases[] = {
      {"default", false, false, false, false, 300, "default"},
      {"file", true, false, false, false, 10, "skepd.toml:2:11"},
      {"conf.d over file", true, true, false, false, 20, "conf.d/50.toml:2:11"},
      {"variable over conf.d", true, true, true, false, 30, "SKEP_TXN_TIMEOUT"},
      {"flag over variable", true, true, true, true, 40, "--txn.timeout"},
      {"flag over default", false, false, false, true, 40, "--txn.timeout"},
      {"variable over file", true, false, true, false, 30, "SKEP_TXN_TIMEOUT"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Write("skepd.toml", c.file ? "[txn]\ntimeout = \"10s\"\nmax_open = 77\n" : "");
    std::filesystem::remove_all(dir_.path() + "/conf.d");
    if (c.more) {
      Write("conf.d/10.toml", "[txn]\ntimeout = \"15s\"\n");
      Write("conf.d/50.toml", "[txn]\ntimeout = \"20s\"\n");
      Write("conf.d/90.ignored", "nonsense");
    }
    environment_.clear();
    if (c.variable) environment_["SKEP_TXN_TIMEOUT"] = "30s";
    const Config config = Load(c.flag ? std::vector<std::string>{"--txn.timeout", "40s"}
                                      : std::vector<std::string>{});
    EXPECT_THAT(config.problems, IsEmpty());
    EXPECT_EQ(config.settings.txn.timeout, std::chrono::seconds(c.seconds));
    EXPECT_THAT(config.origin.at("txn.timeout"), ::testing::EndsWith(c.origin));
    // No layer switches another one off for other keys.
    EXPECT_EQ(config.settings.txn.max_open, c.file ? 77 : 100'000);
  }
}

TEST_F(ConfigTest, ListsComeFromEveryLayer) {
  Write("skepd.toml", "[warehouse]\nroots = [\"/a\", \"/b//c/\"]\n");
  EXPECT_THAT(Load().settings.warehouse.roots, ElementsAre("/a", "/b/c"));
  environment_["SKEP_WAREHOUSE_ROOTS"] = "/d, /e";
  EXPECT_THAT(Load().settings.warehouse.roots, ElementsAre("/d", "/e"));
  EXPECT_THAT(Load({"--warehouse.roots", "/f", "--warehouse.roots", "/g"}).settings.warehouse.roots,
              ElementsAre("/f", "/g"));
}

TEST_F(ConfigTest, EveryProblemIsReportedWithItsPlace) {
  Write("skepd.toml",
        "[txn]\ntimeout = 300\nmax_opne = 5\n[store]\nsynchronous = "
        "\"normal\"\n[compactor]\ndelta_pct_threshold = true\n"
        "[tls]\ncert = \"/x\"\n");
  environment_["SKEP_SERVER_MAX_MESSAGE"] = "4";
  const Config config = Load({"--log.level", "loud"});
  EXPECT_THAT(
      config.problems,
      UnorderedElementsAre(
          AllOf(HasSubstr("skepd.toml:2:11: txn.timeout = 300"), HasSubstr("with its unit")),
          AllOf(HasSubstr("skepd.toml:3:12: txn.max_opne: unknown key"),
                HasSubstr("txn.max_open?")),
          AllOf(HasSubstr("skepd.toml:5:"), HasSubstr("may lose acknowledged commits")),
          AllOf(HasSubstr("skepd.toml:7:"), HasSubstr("a ratio")),
          AllOf(HasSubstr("skepd.toml:9:"), HasSubstr("tls.cert: unknown key")),
          AllOf(HasSubstr("SKEP_SERVER_MAX_MESSAGE: server.max_message = 4"), HasSubstr("a size")),
          AllOf(HasSubstr("--log.level: log.level = loud"), HasSubstr("one of"))));
  EXPECT_FALSE(config.only_flags_are_wrong);
}

TEST_F(ConfigTest, AVariableThatIsNearlyASettingIsAMistake) {
  Write("skepd.toml", "");
  environment_["SKEP_TXN_TIMOUT"] = "30s";
  environment_["SKEP_FIXTURES"] = "of another program";
  EXPECT_THAT(Load().problems,
              ElementsAre("SKEP_TXN_TIMOUT: no such setting in the environment; did you mean "
                          "SKEP_TXN_TIMEOUT?"));
}

TEST_F(ConfigTest, SyntaxErrorsHaveTheirPlace) {
  Write("skepd.toml", "[txn]\ntimeout = \"10s\n");
  EXPECT_THAT(Load().problems, ElementsAre(HasSubstr("skepd.toml:2:")));
  Write("skepd.toml", "[txn]\ntimeout = \"10s\"\ntimeout = \"20s\"\n");
  EXPECT_THAT(Load().problems, ElementsAre(HasSubstr("skepd.toml:3:")));
}

TEST_F(ConfigTest, AFileThatWasNamedMustBeThere) {
  EXPECT_THAT(Load().problems, ElementsAre(HasSubstr("no such file")));
}

TEST_F(ConfigTest, RulesBetweenKeys) {
  Write("skepd.toml", "");
  struct Case {
    const char* name;
    std::vector<std::string> flags;
    const char* problem;
  };
  const Case cases[] = {
      {"no endpoint", {"--server.listen", ""}, "one endpoint at least"},
      {"one twice", {"--server.listen", "unix:/a,unix:/a"}, "each endpoint once"},
      {"a client above all",
       {"--server.max-in-flight", "10", "--server.max-in-flight-per-client", "20"},
       "not above server.max_in_flight"},
      {"root in root", {"--warehouse.roots", "/w,/w/x"}, "/w/x is inside /w"},
      {"store in the warehouse",
       {"--warehouse.roots", "/w", "--store.path", "/w/skep.db"},
       "outside the warehouse"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Config config = Load(c.flags);
    EXPECT_THAT(config.problems, ElementsAre(HasSubstr(c.problem)));
    EXPECT_TRUE(config.only_flags_are_wrong);
  }
}

TEST_F(ConfigTest, ValuesOutOfRangeAreRefused) {
  Write("skepd.toml", "");
  struct Case {
    const char* flag;
    const char* value;
  };
  const Case cases[] = {
      {"--server.listen", "7083"},
      {"--server.listen", "host:99999"},
      {"--server.listen", "unix:relative"},
      {"--store.path", "skep.db"},
      {"--store.path", "/a/../b"},
      {"--store.synchronous", "off"},
      {"--store.auto-migrate", "yes"},
      {"--warehouse.roots", "/"},
      {"--txn.timeout", "10ms"},
      {"--txn.timeout", "2d"},
      {"--txn.max-batch", "0"},
      {"--txn.max-batch", "1001"},
      {"--compactor.workers", "-1"},
      {"--compactor.delta-pct-threshold", "0"},
      {"--compactor.delta-pct-threshold", "nan"},
      {"--log.format", "xml"},
      {"--log.target", "somewhere"},
      {"--server.max-message", "1KiB"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.flag) + " " + c.value);
    EXPECT_EQ(Load({c.flag, c.value}).problems.size(), 1u);
  }
}

TEST_F(ConfigTest, TheDefaultFileIsAValidFileAndSaysWhatIsTheDefaultAnyway) {
  std::string text = PrintDefaultConfig();
  Write("skepd.toml", text);
  EXPECT_THAT(Load().problems, IsEmpty());
  // The same with every key written out.
  std::string spelled;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    if (line.starts_with("#") && !line.starts_with("# ")) line.erase(0, 1);
    spelled += line + "\n";
    at = end + 1;
  }
  Write("skepd.toml", spelled);
  const Config config = Load();
  EXPECT_THAT(config.problems, IsEmpty());
  Write("skepd.toml", "");
  const Config defaults = Load();
  for (const Setting& setting : SettingTable()) {
    SCOPED_TRACE(setting.key);
    EXPECT_NE(config.origin.at(setting.key), "default");
    if (setting.key == "compactor.workers")
      continue;  // the file says 1, the default follows the cores
    EXPECT_EQ(setting.show(config.settings), setting.show(defaults.settings));
  }
}

TEST_F(ConfigTest, TheShippedFileIsTheDefaultFile) {
  std::ifstream file("deploy/skepd.toml");
  ASSERT_TRUE(file) << "run from the source root";
  const std::string shipped((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  EXPECT_EQ(shipped, PrintDefaultConfig())
      << "run: skepd --print-default-config > deploy/skepd.toml";
}

TEST_F(ConfigTest, TheEffectiveConfigurationCanBeReadAgain) {
  Write("skepd.toml", "[txn]\ntimeout = \"90s\"\n[warehouse]\nroots = [\"/w\"]\n");
  const Config config = Load({"--compactor.delta-pct-threshold", "0.25"});
  const std::string printed = PrintConfig(config, "toml");
  EXPECT_THAT(printed, HasSubstr("timeout = \"90s\"  # " + dir_.path() + "/skepd.toml:2:11"));
  Write("skepd.toml", printed);
  const Config again = Load();
  EXPECT_THAT(again.problems, IsEmpty());
  for (const Setting& setting : SettingTable()) {
    EXPECT_EQ(setting.show(again.settings), setting.show(config.settings)) << setting.key;
  }
  EXPECT_THAT(PrintConfig(config, "json"),
              HasSubstr("\"origin\": \"--compactor.delta-pct-threshold\""));
}

TEST_F(ConfigTest, FilesAreLookedAtWhenAsked) {
  Write("skepd.toml",
        "[warehouse]\nroots = [\"" + dir_.path() + "/nothing\"]\n[store]\npath = \"" + dir_.path() +
            "/skepd.toml/skep.db\"\n");
  Config config = Load();
  ASSERT_THAT(config.problems, IsEmpty());
  CheckFiles(&config);
  EXPECT_THAT(
      config.problems,
      UnorderedElementsAre(HasSubstr("/nothing cannot be used"), HasSubstr("is no directory")));
}

TEST(CommandLine, UnknownFlagsAreBadUsage) {
  const char* const argv[] = {"skepd", "--no-such-flag"};
  const CommandLine line = ParseCommandLine(2, argv);
  EXPECT_EQ(line.exit_code, 64);
  EXPECT_THAT(line.message, HasSubstr("--no-such-flag"));
}

TEST(CommandLine, HelpNamesEveryKey) {
  const char* const argv[] = {"skepd", "--help"};
  const CommandLine line = ParseCommandLine(2, argv);
  EXPECT_EQ(line.exit_code, 0);
  for (const Setting& setting : SettingTable())
    EXPECT_THAT(line.message, HasSubstr(setting.FlagName()));
}

TEST(SettingTable, EachKeyHasThreeSpellings) {
  for (const Setting& setting : SettingTable()) {
    if (setting.key != "compactor.delta_num_threshold") continue;
    EXPECT_EQ(setting.FlagName(), "--compactor.delta-num-threshold");
    EXPECT_EQ(setting.VariableName(), "SKEP_COMPACTOR_DELTA_NUM_THRESHOLD");
    return;
  }
  FAIL() << "key is gone";
}

}  // namespace
}  // namespace skep::daemon
