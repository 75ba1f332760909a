#pragma once

#include <functional>
#include <string_view>

#include <absl/status/status.h>

#include "client/cli/context.h"
#include "client/cli/listing.h"
#include "client/cli/reply.h"

namespace skep::cli {

// Prints a List reply in the output that was asked for (table by default): its items under `items`
// as JSON or JSON lines, as Hive prints them where `hive` is given, or as the listing that `make`
// lays out. Errors: kInvalidRequest for -o hive without `hive`.
struct ListPrinter {
  std::string_view items;
  std::function<Listing(const Json& items, const TimeCells& times)> make;
  std::function<std::string(const Json& items)> hive;  // header line and rows
  std::string nothing;  // said to people where there are no rows: "no open transactions"
};
absl::Status PrintList(Run& run, const Json& reply, const ListPrinter& printer);

// Prints one reply: JSON where asked for, `text` otherwise. Errors: kInvalidRequest for other
// outputs.
absl::Status PrintReply(Run& run, const Json& reply, const std::string& text);

TimeCells TimesOf(Run& run);
Zone ZoneOf(const Run& run);

}  // namespace skep::cli
