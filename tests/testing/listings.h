#pragma once

// Builders for tests of directory rules: a listing from names, snapshots from Hive's text form.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "storage/acid/selection.h"
#include "storage/model/snapshot.h"

namespace skep::testing {

// Directory names as listed; "base_7:compacted" has that word in its _metadata_acid. "name/" is an
// ordinary sub-directory, anything else that is no ACID directory an original of one byte
// ("name#0": of none).
inline acid::Listing MakeListing(const std::vector<std::string>& specs) {
  acid::Listing listing;
  for (const std::string& spec : specs) {
    const size_t colon = spec.find(':');
    const std::string name = spec.substr(0, colon);
    auto parsed = acid::ParseDirName(name);
    EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
    if (!parsed.ok()) continue;
    if (parsed->has_value()) {
      listing.dirs.push_back(
          {.name = **std::move(parsed),
           .metadata = colon == std::string::npos ? std::string() : spec.substr(colon + 1)});
    } else if (name.ends_with('/')) {
      listing.original_dirs.push_back(name.substr(0, name.size() - 1));
    } else if (name.ends_with("#0")) {
      listing.originals.push_back({.relative_path = name.substr(0, name.size() - 2), .size = 0});
    } else {
      listing.originals.push_back({.relative_path = name, .size = 1});
    }
  }
  return listing;
}

// "HIGH:MIN_OPEN:OPEN,…:ABORTED,…".
inline WriteIdSnapshot WriteIds(const std::string& fields) {
  auto parsed = ParseWriteIdList("default.t:" + fields);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return parsed.ok() ? *std::move(parsed) : WriteIdSnapshot();
}

inline acid::Visibility Txns(const std::string& fields) {
  auto parsed = ParseTxnList(fields);
  EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
  return {.txns = parsed.ok() ? *std::move(parsed) : TxnSnapshot()};
}

inline acid::Visibility AllVisible() { return {.txns = AllTxnsVisible()}; }

}  // namespace skep::testing
