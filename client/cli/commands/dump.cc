#include "client/table/dump.h"

#include <string>

#include "client/cli/commands.h"
#include "client/cli/exit_codes.h"
#include "client/cli/text_file.h"
#include "client/cli/usage.h"
#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::cli {

absl::StatusOr<int> RunCommand(Run& run, const Dump& options) {
  if (run.global().OutputOr(Output::kJsonl) != Output::kJsonl) {
    return AsUsage(MakeError(ErrorReason::kInvalidRequest,
                             "dump prints JSON lines only: -o jsonl",
                             {{"field", "output"}}));
  }
  client::DumpOptions dump;
  dump.directory = options.directory[0] == '/'
                       ? options.directory
                       : run.io().working_directory + "/" + options.directory;
  dump.write_ids = options.write_ids;
  dump.txns = options.txns;
  if (!options.ddl_file.empty()) {
    SKEP_ASSIGN_OR_RETURN(dump.ddl, ReadTextFile(options.ddl_file));
  }
  std::ostream& out = run.io().out;
  dump.limit = run.global().limit;
  SKEP_ASSIGN_OR_RETURN(const client::DumpReport report,
                        client::Dump(run.io().fs, dump, [&](std::string_view line) -> absl::Status {
                          out << line << "\n";
                          return out.good() ? absl::OkStatus()
                                            : absl::CancelledError("the output is closed");
                        }));
  if (options.stats) run.io().err << client::FormatDumpReport(report);
  return kDone;
}

}  // namespace skep::cli
