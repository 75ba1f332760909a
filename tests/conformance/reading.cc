#include "tests/conformance/reading.h"

#include "storage/fs/posix_file_system.h"

namespace skep::testing {

Reading DumpOf(const client::DumpOptions& options) {
  fs::PosixFileSystem fs;
  Reading reading;
  auto report = client::Dump(fs, options, [&](std::string_view line) {
    reading.lines.emplace_back(line);
    return absl::OkStatus();
  });
  reading.status = report.status();
  if (report.ok()) reading.report = *std::move(report);
  return reading;
}

}  // namespace skep::testing
