#pragma once

// The walk over one listing that selection and obsolete selection share. Internal to this room:
// others call SelectDirectories or SelectObsolete.

#include <optional>
#include <string>

#include "storage/acid/selection.h"

namespace skep::acid {

struct Walked {
  Selection selection;
  // S-8: no base was chosen although this one was visible: the history below it is gone. A reader
  // must fail; a cleaner merely has no base to prove anything by.
  std::optional<std::string> missed_base;
};

// S-1…S-7 and S-9. The result does not depend on the order of the listing.
Walked WalkDirectories(const Listing& listing,
                       const WriteIdSnapshot& write_ids,
                       const Visibility& visibility);

}  // namespace skep::acid
