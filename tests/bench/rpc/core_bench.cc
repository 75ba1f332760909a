// The figures of the transaction core: each a ratio against a comparator of the same run, with its
// floor and its goal. ../README.md says how to read them.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "storage/base/text.h"
#include "tests/bench/rpc/echo_server.h"
#include "tests/bench/rpc/figures.h"

namespace skep::bench {
namespace {

struct Part {
  const char* name;
  std::vector<Figure> (*measure)(const Places&, const Effort&);
};
constexpr Part kParts[] = {{"calls", CallFigures},
                           {"sessions", SessionFigures},
                           {"open", OpenFigures},
                           {"locks", LockFigures},
                           {"history", HistoryFigures}};

int Usage() {
  std::fputs(
      "usage: core_bench [--only calls|sessions|open|locks|history] [--rounds N] [--calls N] "
      "[--open N]\n"
      "                  [--waiters N] [--history N] [--tables N] [--dir DIR] [--skepd PATH]\n"
      "                  [--no-floors]\n",
      stderr);
  return 64;
}

int RunParts(const Places& places, const Effort& effort, const std::string& only, bool floors) {
  bool good = true;
  for (const Part& part : kParts) {
    if (!only.empty() && only != part.name) continue;
    for (const Figure& figure : part.measure(places, effort)) {
      Print(figure);
      good &= figure.holds();
    }
  }
  return good || !floors ? 0 : 1;
}

int Main(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "--serve-echo")
    return ServeEcho({argv[2], argv[3]}, ParseInt64(argv[4]).value_or(0));
  Places places;
  places.self = std::filesystem::read_symlink("/proc/self/exe").string();
  places.skepd = SKEPD_PATH;
  Effort effort;
  std::string only;
  bool floors = true;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--no-floors") {
      floors = false;
      continue;
    }
    if (i + 1 >= argc) return Usage();
    const std::string value = argv[++i];
    const int64_t number = ParseInt64(value).value_or(0);
    if (flag == "--only") {
      only = value;
    } else if (flag == "--dir") {
      places.dir = value;
    } else if (flag == "--skepd") {
      places.skepd = value;
    } else if (number <= 0) {
      return Usage();
    } else if (flag == "--rounds") {
      effort.rounds = static_cast<int>(number);
    } else if (flag == "--calls") {
      effort.calls = number;
    } else if (flag == "--open") {
      effort.open = number;
    } else if (flag == "--waiters") {
      effort.waiters = number;
    } else if (flag == "--history") {
      effort.history = number;
    } else if (flag == "--tables") {
      effort.tables = number;
    } else {
      return Usage();
    }
  }
  if (!places.dir.empty()) {
    std::filesystem::create_directories(places.dir);
    return RunParts(places, effort, only, floors);
  }
  std::string dir = (std::filesystem::temp_directory_path() / "core-bench-XXXXXX").string();
  if (::mkdtemp(dir.data()) == nullptr) return 1;
  places.dir = dir;
  const int code = RunParts(places, effort, only, floors);
  std::filesystem::remove_all(dir);
  return code;
}

}  // namespace
}  // namespace skep::bench

int main(int argc, char** argv) { return skep::bench::Main(argc, argv); }
