#include "server/rpc/table_location.h"

#include <vector>

#include <fmt/format.h>

#include "storage/base/status_macros.h"
#include "storage/base/text.h"
#include "storage/model/errors.h"

namespace skep::rpc {
namespace {

absl::Status NotAllowed(const std::string& path,
                        std::span<const std::string> roots,
                        std::string_view why) {
  const std::string list = JoinText(roots, ", ");
  return MakeError(ErrorReason::kLocationNotAllowed,
                   fmt::format("{} {}", Printable(path), why),
                   {{"path", Printable(path)}, {"roots", list}});
}

// The path with links resolved; what does not exist yet is kept as it is below its nearest existing
// ancestor.
absl::StatusOr<std::string> ResolveLinks(fs::FileSystem& fs, const std::string& path) {
  std::string existing = path;
  std::vector<std::string> missing;
  for (;;) {
    absl::StatusOr<std::string> canonical = fs.Canonical(existing);
    if (canonical.ok()) {
      std::string resolved = *std::move(canonical);
      for (auto it = missing.rbegin(); it != missing.rend(); ++it)
        resolved = fs::JoinPath(resolved, *it);
      return resolved;
    }
    if (!absl::IsNotFound(canonical.status()) || existing == "/") return canonical.status();
    missing.push_back(fs::BaseName(existing));
    existing = fs::ParentPath(existing);
  }
}

}  // namespace

absl::StatusOr<std::string> DefaultLocation(std::span<const std::string> roots,
                                            const TableName& name) {
  if (roots.empty()) {
    return MakeError(
        ErrorReason::kLocationNotAllowed,
        fmt::format("no place for {}: this server has no warehouse; set warehouse.roots",
                    name.ToString()),
        {{"path", ""}, {"roots", ""}});
  }
  return fs::JoinPath(fs::JoinPath(roots.front(), name.database + ".db"), name.table);
}

absl::StatusOr<std::string> ResolveLocation(fs::FileSystem& fs,
                                            std::span<const std::string> roots,
                                            const std::string& location) {
  if (roots.empty()) {
    return NotAllowed(
        location,
        roots,
        "cannot be a table's place: this server has no warehouse; set warehouse.roots");
  }
  absl::StatusOr<std::string> normal = fs::NormalizePath(location);
  if (!normal.ok())
    return NotAllowed(location, roots, "is no location: " + MessageOf(normal.status()));
  absl::StatusOr<std::string> resolved = ResolveLinks(fs, *normal);
  if (!resolved.ok())
    return NotAllowed(*normal, roots, "cannot be reached: " + MessageOf(resolved.status()));
  for (const std::string& root : roots) {
    const absl::StatusOr<std::string> real_root = fs.Canonical(root);
    if (!real_root.ok() && fs::IsInside(root, *normal)) {
      return NotAllowed(*normal,
                        roots,
                        fmt::format("lies in the warehouse root {}, which cannot be reached: {}; "
                                    "create or mount it",
                                    root,
                                    MessageOf(real_root.status())));
    }
    if (!real_root.ok() || !fs::IsInside(*real_root, *resolved)) continue;
    if (*resolved == *real_root) {
      return NotAllowed(*normal, roots, "is a warehouse root itself; give a directory below it");
    }
    return fs::JoinPath(root, resolved->substr(*real_root == "/" ? 1 : real_root->size() + 1));
  }
  return NotAllowed(*normal,
                    roots,
                    *resolved == *normal
                        ? fmt::format("is outside the warehouse roots ({})", JoinText(roots, ", "))
                        : fmt::format("leads to {}, which is outside the warehouse roots ({})",
                                      *resolved,
                                      JoinText(roots, ", ")));
}

}  // namespace skep::rpc
