#include "client/cli/command_definitions.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "client/cli/human.h"
#include "storage/base/text.h"

namespace skep::cli {

std::string CheckId(const std::string& text) {
  std::optional<int64_t> id = ParseInt64(text);
  return id.has_value() && *id > 0 ? "" : "'" + Printable(text) + "' is not a number above zero";
}

std::string CheckSpan(const std::string& text) {
  return ParseSpan(text).has_value()
             ? ""
             : "'" + Printable(text) + "' is not a span of time such as 500ms, 30s, 2h";
}

namespace {

int64_t IdOf(const std::string& text) { return ParseInt64(text).value_or(0); }

// Options of a command under construction; lives as long as the command's callback.
template <class Options>
struct Draft {
  Options options;
  std::string id;    // text of an id
  std::string span;  // text of a span
  std::vector<std::string> ids;
};

// Adds one command: `define` names its options, `finish` turns text into values.
template <class Options>
void Add(CLI::App& parent,
         const Choose& choose,
         const std::string& name,
         const std::string& help,
         const std::function<void(CLI::App&, Draft<Options>&)>& define,
         const std::function<void(Draft<Options>&)>& finish = {}) {
  CLI::App* command = parent.add_subcommand(name, help);
  auto draft = std::make_shared<Draft<Options>>();
  define(*command, *draft);
  const std::string words = parent.get_parent() == nullptr ? name : parent.get_name() + " " + name;
  command->callback([draft, finish, &choose, words] {
    if (finish) finish(*draft);
    choose(Command(draft->options), words);
  });
}

void DefineShow(CLI::App& app, const Choose& choose) {
  CLI::App& show = *app.add_subcommand("show",
                                       "Lists what is there.\n\nExamples:\n"
                                       "  skepctl show transactions\n"
                                       "  skepctl show locks sales.orders --waiting\n"
                                       "  skepctl show compactions sales.orders --state failed\n");
  show.require_subcommand(1);
  Add<ShowTransactions>(
      show,
      choose,
      "transactions",
      "Open transactions (or aborted ones).\n\nExamples:\n"
      "  skepctl show transactions --older-than 1h\n"
      "  skepctl show transactions --state open,aborted -o hive\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("--state", draft.options.states, "open, aborted")
            ->type_name("STATE")
            ->delimiter(',');
        command.add_option("--user", draft.options.user, "of this user only")->type_name("USER");
        command.add_option("--table", draft.options.table, "that write DB.TABLE")
            ->type_name("TABLE");
        command.add_option("--type", draft.options.type, "default, read_only, compaction, …")
            ->type_name("TYPE");
        command.add_option("--older-than", draft.span, "opened longer ago than 30s, 1h, 2d")
            ->type_name("SPAN")
            ->check(CheckSpan);
      },
      [](auto& draft) {
        if (!draft.span.empty()) draft.options.older_than = ParseSpan(draft.span);
      });
  Add<ShowLocks>(
      show,
      choose,
      "locks",
      "Locks held and waited for.\n\nExamples:\n"
      "  skepctl show locks\n"
      "  skepctl show locks sales.orders --waiting\n",
      [](CLI::App& command, auto& draft) {
        command.add_option(
            "resource", draft.options.resource, "DB, DB.TABLE or DB.TABLE/PARTITION");
        command.add_flag("--waiting", draft.options.waiting, "waiting ones only");
        command.add_option("--txn", draft.id, "of this transaction")
            ->type_name("ID")
            ->check(CheckId);
      },
      [](auto& draft) { draft.options.txn = IdOf(draft.id); });
  Add<ShowCompactions>(
      show,
      choose,
      "compactions",
      "The compaction queue and its history.\n\nExamples:\n"
      "  skepctl show compactions --state working\n"
      "  skepctl show compactions sales.orders -o wide\n",
      [](CLI::App& command, auto& draft) {
        command.add_option(
            "resource", draft.options.resource, "DB, DB.TABLE or DB.TABLE/PARTITION");
        command
            .add_option("--state",
                        draft.options.states,
                        "initiated, working, ready-for-cleaning, succeeded, failed, …")
            ->type_name("STATE")
            ->delimiter(',');
        command.add_option("--type", draft.options.type, "major, minor")->type_name("TYPE");
        command.add_option("--id", draft.id, "this one")->type_name("ID")->check(CheckId);
      },
      [](auto& draft) { draft.options.id = IdOf(draft.id); });
  Add<ShowTables>(show,
                  choose,
                  "tables",
                  "Registered tables.\n\nExamples:\n  skepctl show tables\n  skepctl show tables "
                  "sales -o name\n",
                  [](CLI::App& command, auto& draft) {
                    command.add_option("database", draft.options.database, "of this database only");
                  });
  Add<ShowTable>(
      show,
      choose,
      "table",
      "One table: columns, location, properties.\n\nExample:\n  skepctl show table sales.orders\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("table", draft.options.table, "DB.TABLE")->required();
      });
  Add<ShowDeltas>(
      show,
      choose,
      "deltas",
      "Directories of a table: live, obsolete, aborted, open, foreign, and why.\n\nExamples:\n"
      "  skepctl show deltas sales.orders\n"
      "  skepctl show deltas sales.orders/order_date=2026-10-01\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("resource", draft.options.resource, "DB.TABLE or DB.TABLE/PARTITION")
            ->required();
      });
  Add<ShowSnapshot>(
      show,
      choose,
      "snapshot",
      "What is visible now: transactions, or the write ids of a table.\n\nExamples:\n"
      "  skepctl show snapshot\n"
      "  skepctl show snapshot sales.orders -o hive   (the text that dump --write-ids takes)\n"
      "  skepctl show snapshot --txn 812\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("table", draft.options.table, "DB.TABLE: its write ids");
        command.add_option("--txn", draft.id, "as this open transaction sees it")
            ->type_name("ID")
            ->check(CheckId);
      },
      [](auto& draft) { draft.options.txn = IdOf(draft.id); });
}

void DefineExplain(CLI::App& app, const Choose& choose) {
  CLI::App& explain = *app.add_subcommand("explain",
                                          "Says why not.\n\nExamples:\n"
                                          "  skepctl explain lock 42\n"
                                          "  skepctl explain cleaner sales.orders\n"
                                          "  skepctl explain compaction sales.orders\n");
  explain.require_subcommand(1);
  Add<ExplainLock>(
      explain,
      choose,
      "lock",
      "Who a lock request waits for, and whom those wait for.\n\nExample:\n  skepctl explain lock "
      "42\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("lock", draft.id, "its id")->required()->check(CheckId);
      },
      [](auto& draft) { draft.options.lock = IdOf(draft.id); });
  Add<ExplainCleaner>(explain,
                      choose,
                      "cleaner",
                      "Why directories that a compaction replaced are still there.\n\nExamples:\n"
                      "  skepctl explain cleaner\n"
                      "  skepctl explain cleaner sales.orders\n",
                      [](CLI::App& command, auto& draft) {
                        command.add_option("table", draft.options.table, "DB.TABLE");
                      });
  Add<ExplainCompaction>(
      explain,
      choose,
      "compaction",
      "What the initiator would decide now, and by which numbers.\n\nExample:\n"
      "  skepctl explain compaction sales.orders\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("resource", draft.options.resource, "DB.TABLE or DB.TABLE/PARTITION")
            ->required();
      });
}

void DefineTables(CLI::App& app, const Choose& choose) {
  CLI::App& create = *app.add_subcommand("create", "Creates a table.");
  create.require_subcommand(1);
  Add<CreateTable>(
      create,
      choose,
      "table",
      "Creates a table and its directory; the database comes with its first table.\n\nExamples:\n"
      "  skepctl create table sales.orders --columns 'order_id bigint, status string, amount "
      "decimal(12,2)' \\\n"
      "      --partitioned-by 'order_date date'\n"
      "  skepctl create table logs.raw --columns 'line string' --format text\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("table", draft.options.table, "DB.TABLE")->required();
        command.add_option("--columns", draft.options.columns, "'name type, …' in Hive's words")
            ->type_name("COLUMNS")
            ->required();
        command.add_option("--partitioned-by", draft.options.partitioned_by, "'name type, …'")
            ->type_name("COLUMNS");
        command
            .add_option("--format",
                        draft.options.format,
                        "orc (full ACID), text, parquet, avro (insert-only)")
            ->type_name("FORMAT")
            ->capture_default_str();
        command.add_flag(
            "--external", draft.options.external, "its files are never written by Skep");
        command.add_option("--location", draft.options.location, "default: FIRST_ROOT/DB.db/TABLE")
            ->type_name("DIR");
        command.add_option("--set", draft.options.properties, "a table property; may be repeated")
            ->type_name("KEY=VALUE")
            ->take_all()
            ->expected(1);
      });
  CLI::App& registering = *app.add_subcommand("register", "Takes over a table that exists.");
  registering.require_subcommand(1);
  Add<RegisterTable>(
      registering,
      choose,
      "table",
      "Takes over an existing table directory. Nothing in it is changed.\n\nExamples:\n"
      "  skepctl register table sales.orders /warehouse/sales.db/orders --ddl orders.sql\n"
      "  skepctl register table sales.orders /warehouse/sales.db/orders --write-ids "
      "'sales.orders:9:::4' --txns all\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("table", draft.options.table, "DB.TABLE")->required();
        command.add_option("directory", draft.options.directory, "of the table")->required();
        command
            .add_option(
                "--ddl", draft.options.ddl_file, "file with Hive's SHOW CREATE TABLE; - for stdin")
            ->type_name("FILE");
        command
            .add_option("--write-ids",
                        draft.options.write_ids,
                        "DB.T:HIGH:MIN_OPEN:OPEN,…:ABORTED,…; without it all on disk is committed")
            ->type_name("LIST");
        command
            .add_option("--txns",
                        draft.options.txns,
                        "HIGH:MIN_OPEN:OPEN,…:ABORTED,… or all: how _vN directories are judged")
            ->type_name("LIST");
      });
  CLI::App& setting = *app.add_subcommand("set", "Changes a table.");
  setting.require_subcommand(1);
  Add<SetProperties>(
      setting,
      choose,
      "properties",
      "Sets and removes properties of a table, and shows what it has then.\n\nExamples:\n"
      "  skepctl set properties sales.orders orc.compress=zstd NO_AUTO_COMPACTION=true\n"
      "  skepctl set properties sales.orders --unset NO_AUTO_COMPACTION\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("table", draft.options.table, "DB.TABLE")->required();
        command.add_option("properties", draft.options.properties, "KEY=VALUE …");
        command.add_option("--unset", draft.options.unset, "a property to remove; may be repeated")
            ->type_name("KEY")
            ->take_all()
            ->expected(1);
      });
  CLI::App& drop = *app.add_subcommand("drop", "Drops a table.");
  drop.require_subcommand(1);
  Add<DropTable>(
      drop,
      choose,
      "table",
      "Removes a table from the registry under an EXCLUSIVE lock; its files stay.\n\nExamples:\n"
      "  skepctl drop table sales.orders\n"
      "  skepctl drop table sales.orders --yes --timeout 5m\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("table", draft.options.table, "DB.TABLE")->required();
      });
}

void DefineWork(CLI::App& app, const Choose& choose) {
  Add<Compact>(
      app,
      choose,
      "compact",
      "Enqueues a compaction; of a partitioned table, one for each partition.\n\nExamples:\n"
      "  skepctl compact sales.orders --type major --wait\n"
      "  skepctl compact sales.orders/order_date=2026-10-01 --type minor\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("resource", draft.options.resource, "DB.TABLE or DB.TABLE/PARTITION")
            ->required();
        command.add_option("--type", draft.options.type, "major or minor")
            ->type_name("TYPE")
            ->required()
            ->check(CLI::IsMember({"major", "minor"}, CLI::ignore_case));
        command.add_flag(
            "--wait",
            draft.options.wait,
            "until the result is visible; Ctrl-C detaches, --timeout ends the waiting");
      });
  CLI::App& abort = *app.add_subcommand("abort", "Aborts transactions.");
  abort.require_subcommand(1);
  Add<AbortTransactions>(
      abort,
      choose,
      "transactions",
      "Aborts open transactions: by id, or all of a user or of an age. What they wrote is "
      "lost.\n\nExamples:\n"
      "  skepctl abort transactions 812 815\n"
      "  skepctl abort transactions --user etl --older-than 2d --dry-run\n",
      [](CLI::App& command, auto& draft) {
        auto* ids = command.add_option("ids", draft.ids, "transaction ids")->check(CheckId);
        command.add_option("--user", draft.options.user, "all of this user")
            ->type_name("USER")
            ->excludes(ids);

        command.add_option("--older-than", draft.span, "all opened longer ago than 2h, 3d")
            ->type_name("SPAN")
            ->check(CheckSpan)
            ->excludes(ids);
      },
      [](auto& draft) {
        for (const std::string& id : draft.ids) draft.options.ids.push_back(IdOf(id));
        if (!draft.span.empty()) draft.options.older_than = ParseSpan(draft.span);
      });
  CLI::App& release = *app.add_subcommand("release", "Releases a lock.");
  release.require_subcommand(1);
  Add<ReleaseLock>(
      release,
      choose,
      "lock",
      "Takes a lock request away: one that waits, or one outside transactions whose owner is "
      "gone.\n\nExample:\n  skepctl release lock 42\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("lock", draft.id, "its id")->required()->check(CheckId);
        command.add_flag("--force",
                         draft.options.force,
                         "also one that an open transaction holds, which can only abort then");
      },
      [](auto& draft) { draft.options.lock = IdOf(draft.id); });
}

void DefineRows(CLI::App& app, const Choose& choose) {
  Add<Read>(app,
            choose,
            "read",
            "Prints rows of a table as they are now.\n\nExamples:\n"
            "  skepctl read sales.orders --where 'status = \"NEW\" AND amount > 10' --limit 20\n"
            "  skepctl read sales.orders/order_date=2026-10-01 --row-ids -o jsonl\n"
            "  skepctl read sales.orders --columns order_id,status -o csv\n",
            [](CLI::App& command, auto& draft) {
              command
                  .add_option("resource", draft.options.resource, "DB.TABLE or DB.TABLE/PARTITION")
                  ->required();
              command.add_flag("--row-ids", draft.options.row_ids, "with the identity of each row");
              command
                  .add_option("--where",
                              draft.options.where,
                              "comparisons, IN, BETWEEN, IS [NOT] NULL, joined by AND")
                  ->type_name("CONDITIONS");
            });
  Add<Dump>(
      app,
      choose,
      "dump",
      "Prints the rows of any ACID directory, without a server, one JSON object a "
      "line.\n\nExamples:\n"
      "  skepctl dump /warehouse/sales.db/orders -o jsonl\n"
      "  skepctl dump /warehouse/sales.db/orders --write-ids 'sales.orders:9:7:7:4' --ddl "
      "orders.sql --stats\n",
      [](CLI::App& command, auto& draft) {
        command.add_option("directory", draft.options.directory, "of a table or partition")
            ->required();
        command
            .add_option(
                "--write-ids",
                draft.options.write_ids,
                "DB.T:HIGH:MIN_OPEN:OPEN,…:ABORTED,…; without it all that is there is visible")
            ->type_name("LIST");
        command
            .add_option("--txns",
                        draft.options.txns,
                        "HIGH:MIN_OPEN:OPEN,…:ABORTED,…; without it every _vN is committed")
            ->type_name("LIST");
        command
            .add_option(
                "--ddl", draft.options.ddl_file, "file with Hive's SHOW CREATE TABLE; - for stdin")
            ->type_name("FILE");
        command.add_flag("--stats", draft.options.stats, "say what was read, skipped and why");
      });
}

void DefineWatch(CLI::App& app, const Choose& choose) {
  CLI::App& watch = *app.add_subcommand("watch",
                                        "Follows what happens.\n\nExample:\n"
                                        "  skepctl watch events --table sales.orders\n");
  watch.require_subcommand(1);
  Add<WatchEvents>(watch,
                   choose,
                   "events",
                   "What is committed to the server, one line each, until Ctrl-C.\n\nExamples:\n"
                   "  skepctl watch events\n"
                   "  skepctl watch events --table sales.orders --after 41 --json\n",
                   [](CLI::App& command, auto& draft) {
                     command
                         .add_option("--after",
                                     draft.options.after,
                                     "go on after this revision; without it from now on")
                         ->type_name("REVISION");
                     command.add_option("--table", draft.options.tables, "of DB or DB.TABLE only")
                         ->type_name("TABLE");
                   });
}

}  // namespace

void DefineCommands(CLI::App& app, const Choose& choose) {
  Add<Status>(app,
              choose,
              "status",
              "How the server is.\n\nExample:\n  skepctl status --json\n",
              [](CLI::App&, auto&) {});
  DefineShow(app, choose);
  DefineExplain(app, choose);
  DefineWatch(app, choose);
  DefineRows(app, choose);
  DefineWork(app, choose);
  DefineTables(app, choose);
}

}  // namespace skep::cli
