#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include <absl/hash/hash.h>

#include "server/state/interned.h"
#include "storage/model/lock.h"

namespace skep::state {

// Whose a transaction or a lock is: one of few, so records share it.
struct Client {
  std::string user;
  std::string host;
  std::string agent;
};
struct ClientTraits {
  using View = std::tuple<std::string_view, std::string_view, std::string_view>;
  static View ViewOf(const Client& c) { return {c.user, c.host, c.agent}; }
  static size_t HashOf(const View& view) { return absl::HashOf(view); }
  static Client Make(const View& view) {
    const auto& [user, host, agent] = view;
    return {std::string(user), std::string(host), std::string(agent)};
  }
};
using Clients = Interned<Client, ClientTraits>;
using ClientRef = Clients::Ref;

// What locks name.
struct ResourceTraits {
  using View = std::tuple<std::string_view, std::string_view, std::string_view>;
  static View ViewOf(const LockResource& r) { return {r.database, r.table, r.partition}; }
  static size_t HashOf(const View& view) { return absl::HashOf(view); }
  static LockResource Make(const View& view) {
    const auto& [database, table, partition] = view;
    return {std::string(database), std::string(table), std::string(partition)};
  }
};
using Resources = Interned<LockResource, ResourceTraits>;
using ResourceRef = Resources::Ref;

}  // namespace skep::state
