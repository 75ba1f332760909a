#include "client/cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/exit_codes.h"
#include "client/cli/nearest.h"

namespace skep::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

template <class Options>
Options Parse(const Words& arguments, GlobalOptions* global = nullptr) {
  auto parsed = ParseCommandLine(arguments);
  const auto* invocation = std::get_if<Invocation>(&parsed);
  if (invocation == nullptr) {
    ADD_FAILURE() << std::get<CommandLineAnswer>(parsed).text;
    return {};
  }
  if (global != nullptr) *global = invocation->global;
  const auto* options = std::get_if<Options>(&invocation->command);
  EXPECT_NE(options, nullptr) << "another command: " << invocation->words;
  return options == nullptr ? Options{} : *options;
}

CommandLineAnswer Answer(const Words& arguments) {
  auto parsed = ParseCommandLine(arguments);
  if (const auto* answer = std::get_if<CommandLineAnswer>(&parsed)) return *answer;
  ADD_FAILURE() << "was taken as a command";
  return {};
}

TEST(CommandLine, KnowsEveryCommand) {
  struct Case {
    Words arguments;
    std::string words;
  };
  const Case cases[] = {
      {{"status"}, "status"},
      {{"show", "transactions"}, "show transactions"},
      {{"show", "locks"}, "show locks"},
      {{"show", "compactions"}, "show compactions"},
      {{"show", "tables"}, "show tables"},
      {{"show", "table", "d.t"}, "show table"},
      {{"show", "deltas", "d.t"}, "show deltas"},
      {{"show", "snapshot"}, "show snapshot"},
      {{"explain", "lock", "4"}, "explain lock"},
      {{"explain", "cleaner"}, "explain cleaner"},
      {{"explain", "compaction", "d.t"}, "explain compaction"},
      {{"abort", "transactions", "4"}, "abort transactions"},
      {{"compact", "d.t", "--type", "major"}, "compact"},
      {{"create", "table", "d.t", "--columns", "a int"}, "create table"},
      {{"register", "table", "d.t", "/w/t"}, "register table"},
      {{"set", "properties", "d.t", "a=b"}, "set properties"},
      {{"drop", "table", "d.t"}, "drop table"},
      {{"read", "d.t"}, "read"},
      {{"dump", "/w/t"}, "dump"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.words);
    auto parsed = ParseCommandLine(c.arguments);
    const auto* invocation = std::get_if<Invocation>(&parsed);
    ASSERT_NE(invocation, nullptr) << std::get<CommandLineAnswer>(parsed).text;
    EXPECT_EQ(invocation->words, c.words);
  }
}

TEST(CommandLine, TakesGlobalFlagsAnywhere) {
  for (const Words& arguments :
       {Words{"-e", "h:1", "-o", "csv", "--limit", "5", "show", "locks", "d"},
        Words{"show", "-e", "h:1", "locks", "-ocsv", "d", "--limit=5"},
        Words{"show", "locks", "d", "--endpoint", "h:1", "--output", "csv", "--limit", "5"}}) {
    GlobalOptions global;
    ShowLocks options = Parse<ShowLocks>(arguments, &global);
    EXPECT_EQ(options.resource, "d");
    EXPECT_EQ(global.endpoint, "h:1");
    EXPECT_EQ(global.output, Output::kCsv);
    EXPECT_EQ(global.limit, 5);
  }
}

TEST(CommandLine, UnderstandsGlobalFlags) {
  GlobalOptions global;
  Parse<Status>({"status"}, &global);
  EXPECT_FALSE(global.output.has_value());
  EXPECT_FALSE(global.timeout.has_value());
  EXPECT_FALSE(global.yes);
  Parse<ShowTables>({"show",
                     "tables",
                     "-o",
                     "csv",
                     "--timeout",
                     "2m",
                     "--columns",
                     "a, b",
                     "--sort",
                     "-a",
                     "--no-headers",
                     "--local",
                     "-qv",
                     "--yes",
                     "--no-input",
                     "--dry-run"},
                    &global);
  EXPECT_EQ(global.output, Output::kCsv);
  EXPECT_EQ(global.timeout, std::chrono::minutes(2));
  EXPECT_THAT(global.columns, ElementsAre("a", "b"));
  EXPECT_EQ(global.sort, "-a");
  EXPECT_TRUE(global.no_headers && global.local_time && global.quiet && global.verbose &&
              global.yes && global.no_input && global.dry_run);
}

TEST(CommandLine, RefusesAnOrderThatNothingIsListedIn) {
  for (const Words& command : {Words{"status"},
                               Words{"show", "table", "d.t"},
                               Words{"show", "snapshot"},
                               Words{"explain", "cleaner"},
                               Words{"read", "d.t"},
                               Words{"dump", "/w/t"},
                               Words{"drop", "table", "d.t"}}) {
    Words arguments = command;
    arguments.insert(arguments.end(), {"--sort", "name"});
    EXPECT_EQ(Answer(arguments).exit_code, kUsage);
    EXPECT_THAT(Answer(arguments).text, HasSubstr("--sort is for show transactions"));
  }
  EXPECT_THAT(Answer({"show", "tables", "--json", "--sort", "name"}).text,
              HasSubstr("--sort is for -o table, wide, csv, tsv and name"));
  EXPECT_THAT(Answer({"show", "transactions", "-o", "hive", "--sort", "txn"}).text,
              HasSubstr("--sort is for -o table"));
}

TEST(CommandLine, ReadsTheOptionsOfCommands) {
  ShowTransactions txns = Parse<ShowTransactions>({"show",
                                                   "transactions",
                                                   "--state",
                                                   "open,aborted",
                                                   "--user",
                                                   "ann",
                                                   "--table",
                                                   "d.t",
                                                   "--older-than",
                                                   "1h"});
  EXPECT_THAT(txns.states, ElementsAre("open", "aborted"));
  EXPECT_EQ(txns.user, "ann");
  EXPECT_EQ(txns.table, "d.t");
  EXPECT_EQ(txns.older_than, std::chrono::hours(1));

  ShowLocks locks = Parse<ShowLocks>({"show", "locks", "--waiting", "--txn", "012"});
  EXPECT_TRUE(locks.waiting);
  EXPECT_EQ(locks.txn, 12) << "decimal, whatever the zero";

  ShowCompactions compactions = Parse<ShowCompactions>(
      {"show", "compactions", "d.t/p=1", "--state", "failed", "--type", "minor", "--id", "3"});
  EXPECT_EQ(compactions.resource, "d.t/p=1");
  EXPECT_EQ(compactions.id, 3);

  AbortTransactions abort = Parse<AbortTransactions>({"abort", "transactions", "4", "5"});
  EXPECT_THAT(abort.ids, ElementsAre(4, 5));
  abort =
      Parse<AbortTransactions>({"abort", "transactions", "--user", "etl", "--older-than", "2d"});
  EXPECT_EQ(abort.user, "etl");
  EXPECT_EQ(abort.older_than, std::chrono::hours(48));

  Compact compact = Parse<Compact>({"compact", "d.t", "--type", "MINOR", "--wait"});
  EXPECT_TRUE(compact.wait);

  CreateTable create = Parse<CreateTable>({"create",
                                           "table",
                                           "d.t",
                                           "--columns",
                                           "a int, b string",
                                           "--partitioned-by",
                                           "p date",
                                           "--format",
                                           "text",
                                           "--external",
                                           "--location",
                                           "/x",
                                           "--set",
                                           "k=v",
                                           "--set",
                                           "k2=v,2"});
  EXPECT_EQ(create.columns, "a int, b string");
  EXPECT_EQ(create.partitioned_by, "p date");
  EXPECT_EQ(create.format, "text");
  EXPECT_TRUE(create.external);
  EXPECT_THAT(create.properties, ElementsAre("k=v", "k2=v,2"));

  RegisterTable taken = Parse<RegisterTable>({"register",
                                              "table",
                                              "d.t",
                                              "dir",
                                              "--ddl",
                                              "f.sql",
                                              "--write-ids",
                                              "d.t:9:7:7:",
                                              "--txns",
                                              "all"});
  EXPECT_EQ(taken.directory, "dir");
  EXPECT_EQ(taken.write_ids, "d.t:9:7:7:");
  EXPECT_EQ(taken.txns, "all");

  GlobalOptions global;
  Read read = Parse<Read>({"read",
                           "d.t",
                           "--row-ids",
                           "--columns",
                           "a,b",
                           "--where",
                           "a = 1 AND b < 'x'",
                           "--limit",
                           "3"},
                          &global);
  EXPECT_TRUE(read.row_ids);
  EXPECT_EQ(read.where, "a = 1 AND b < 'x'");
  EXPECT_THAT(global.columns, ElementsAre("a", "b"));

  Dump dump = Parse<Dump>(
      {"dump", "/w/t", "--write-ids", "x.y:5:::", "--txns", "7:::3", "--ddl", "f", "--stats"});
  EXPECT_EQ(dump.directory, "/w/t");
  EXPECT_EQ(dump.write_ids, "x.y:5:::");
  EXPECT_EQ(dump.txns, "7:::3");
  EXPECT_TRUE(dump.stats);
}

TEST(CommandLine, RefusesWhatCannotBe) {
  struct Case {
    Words arguments;
    std::string complaint;
  };
  const Case cases[] = {
      {{"statsu"}, "Did you mean 'status'?"},
      {{"show", "lokcs"}, "skepctl show: there is no command 'lokcs'. Did you mean 'locks'?"},
      {{"frobnicate"}, "There are status, show"},
      {{"-e", "h:1", "shwo", "locks"}, "Did you mean 'show'?"},
      {{"show", "locks", "--waitign"}, "Did you mean --waiting?"},
      {{"status", "--jsno"}, "Did you mean --json?"},
      {{"status", "-o", "xml"}, "there are table, wide, json"},
      {{"status", "extra"}, "extra"},
      {{"show", "deltas"}, "resource"},
      {{"show", "locks", "--txn", "0"}, "not a number above zero"},
      {{"show", "locks", "--txn", "1x"}, "not a number above zero"},
      {{"show", "locks", "--txn", "99999999999999999999"}, "not a number above zero"},
      {{"abort", "transactions", "4", "--user", "ann"}, "--user"},
      {{"abort", "transactions", "-4"}, "-4"},
      {{"compact", "d.t"}, "--type"},
      {{"compact", "d.t", "--type", "tiny"}, "tiny"},
      {{"create", "table", "d.t"}, "--columns"},
      {{"status", "--timeout", "soon"}, "not a span of time"},
      {{"status", "--utc", "--local"}, "excludes"},
      {{"read"}, "resource"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.complaint);
    CommandLineAnswer answer = Answer(c.arguments);
    EXPECT_EQ(answer.exit_code, kUsage);
    EXPECT_THAT(answer.text, HasSubstr(c.complaint));
  }
}

TEST(CommandLine, HelpsWithExamplesFirst) {
  for (const Words& arguments : {Words{"--help"}, Words{"-h"}}) {
    CommandLineAnswer help = Answer(arguments);
    EXPECT_EQ(help.exit_code, kDone);
    EXPECT_THAT(help.text, StartsWith("skepctl: look at and steer a Skep server."));
    EXPECT_LT(help.text.find("Examples:"), help.text.find("Usage:"));
    EXPECT_THAT(help.text, HasSubstr("Exit codes: 0 done"));
  }
  CommandLineAnswer help = Answer({"show", "locks", "--help"});
  EXPECT_EQ(help.exit_code, kDone);
  EXPECT_THAT(help.text, StartsWith("Locks held and waited for."));
  EXPECT_LT(help.text.find("skepctl show locks sales.orders --waiting"), help.text.find("Usage:"));
}

TEST(CommandLine, HelpsWithWhatToGiveAndNamesTheOptionsOfAll) {
  const std::string locks = Answer({"show", "locks", "--help"}).text;
  EXPECT_THAT(locks, HasSubstr("  resource                    DB, DB.TABLE or DB.TABLE/PARTITION"));
  EXPECT_THAT(locks, HasSubstr("--txn ID "));
  EXPECT_THAT(locks, HasSubstr("Every command also takes --json"));
  EXPECT_THAT(Answer({"compact", "--help"}).text, HasSubstr("--type TYPE (required)"));
  EXPECT_THAT(Answer({"create", "table", "--help"}).text,
              HasSubstr("--format FORMAT (default orc)"));
  const std::string all = Answer({"--help"}).text;
  EXPECT_THAT(all, ::testing::Not(HasSubstr("Excludes")));
  EXPECT_THAT(all, HasSubstr("--timeout SPAN"));
}

TEST(CommandLine, GivesTheShortHelpWithoutACommand) {
  for (const Words& arguments : {Words{}, Words{"-q"}, Words{"show"}}) {
    CommandLineAnswer answer = Answer(arguments);
    EXPECT_EQ(answer.exit_code, kUsage);
    EXPECT_THAT(answer.text, HasSubstr("Usage:"));
  }
}

TEST(CommandLine, EveryCommandHasAnExample) {
  const Words commands[] = {{"status"},
                            {"show"},
                            {"show", "transactions"},
                            {"show", "locks"},
                            {"show", "compactions"},
                            {"show", "tables"},
                            {"show", "table"},
                            {"show", "deltas"},
                            {"show", "snapshot"},
                            {"explain"},
                            {"explain", "lock"},
                            {"explain", "cleaner"},
                            {"explain", "compaction"},
                            {"abort", "transactions"},
                            {"compact"},
                            {"create", "table"},
                            {"register", "table"},
                            {"set", "properties"},
                            {"drop", "table"},
                            {"read"},
                            {"dump"}};
  for (Words arguments : commands) {
    arguments.push_back("--help");
    EXPECT_THAT(Answer(arguments).text, HasSubstr("Example")) << arguments[0];
  }
}

TEST(CommandLine, TellsItsVersion) {
  CommandLineAnswer answer = Answer({"--version"});
  EXPECT_EQ(answer.exit_code, kDone);
  EXPECT_THAT(answer.text, ::testing::MatchesRegex("skepctl [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Nearest, ForgivesTwoLetters) {
  const Words words = {"status", "show", "locks", "transactions"};
  EXPECT_EQ(Nearest("statsu", words), "status");
  EXPECT_EQ(Nearest("LOCK", words), "locks");
  EXPECT_EQ(Nearest("transaktion", words), "transactions");
  EXPECT_EQ(Nearest("sh", words), "");
  EXPECT_EQ(Nearest("zzz", words), "");
  EXPECT_EQ(Nearest(std::string(1000, 'x'), words), "");
}

}  // namespace
}  // namespace skep::cli
