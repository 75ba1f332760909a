#pragma once

#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "client/cli/options.h"

namespace skep::cli {

// Rows of text under titles, before they are laid out.
struct Listing {
  struct Column {
    std::string title;
    bool wide = false;   // shown with -o wide, csv and tsv, or when asked for by --columns
    bool right = false;  // numbers
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  // What --sort compares where it is not the cells themselves: rows of the same shape with times
  // and sizes as programs get them. Empty: the cells.
  std::vector<std::vector<std::string>> sort_keys;
  size_t name_column = 0;  // what -o name prints
};

// The listing as text for table, wide, csv, tsv or name, with --columns, --sort and --no-headers of
// `global` honoured. A table leaves out columns that no row has anything in, unless --columns asks
// for them. Cells of csv are quoted after RFC 4180, those of tsv escaped (\t \n \\). An
// empty listing has a header only for csv and tsv. Errors: kInvalidRequest naming a column that is
// not there.
absl::StatusOr<std::string> Render(const Listing& listing,
                                   const GlobalOptions& global,
                                   Output output);

}  // namespace skep::cli
