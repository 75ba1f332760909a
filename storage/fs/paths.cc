#include <fmt/format.h>

#include "storage/base/text.h"
#include "storage/fs/file_system.h"
#include "storage/model/errors.h"

namespace skep::fs {
namespace {

absl::Status NotAllowed(std::string_view path, std::string_view why) {
  return MakeError(ErrorReason::kLocationNotAllowed,
                   fmt::format("location '{}' {}", Printable(path), why),
                   {{"path", Printable(path)}});
}

bool HasControlCharacter(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return true;
  }
  return false;
}

std::string_view WithoutTrailingSlashes(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

}  // namespace

std::string JoinPath(std::string_view dir, std::string_view name) {
  if (dir.empty()) return std::string(name);
  if (name.empty()) return std::string(dir);
  std::string path(dir);
  if (path.back() != '/') path += '/';
  while (!name.empty() && name.front() == '/') name.remove_prefix(1);
  path += name;
  return path;
}

std::string ParentPath(std::string_view path) {
  path = WithoutTrailingSlashes(path);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return "";
  return std::string(WithoutTrailingSlashes(path.substr(0, slash == 0 ? 1 : slash)));
}

std::string BaseName(std::string_view path) {
  path = WithoutTrailingSlashes(path);
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

absl::StatusOr<std::string> NormalizePath(std::string_view path) {
  if (path.empty() || path.front() != '/') {
    return NotAllowed(path, "is not absolute; give the full path, beginning with /");
  }
  if (!IsValidUtf8(path)) return NotAllowed(path, "is not valid UTF-8; rename the directory");
  if (HasControlCharacter(path)) {
    return NotAllowed(path, "contains a control character; rename the directory");
  }
  std::string normal;
  for (const std::string_view component : SplitText(path, '/')) {
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      return NotAllowed(path, "contains '..'; give the path it leads to instead");
    }
    normal += '/';
    normal += component;
  }
  return normal.empty() ? "/" : normal;
}

bool IsInside(std::string_view root, std::string_view path) {
  root = WithoutTrailingSlashes(root);
  path = WithoutTrailingSlashes(path);
  if (root == "/") return !path.empty() && path.front() == '/';
  if (root.empty() || path.substr(0, root.size()) != root) return false;
  return path.size() == root.size() || path[root.size()] == '/';
}

}  // namespace skep::fs
