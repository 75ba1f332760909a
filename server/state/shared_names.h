#pragma once

#include <string>
#include <string_view>
#include <tuple>

#include <absl/hash/hash.h>

#include "server/state/interned.h"
#include "storage/model/lock.h"

namespace skep::state {

// How values of three texts are shared.
template <class Value, auto kFirst, auto kSecond, auto kThird>
struct TextsTraits {
  using View = std::tuple<std::string_view, std::string_view, std::string_view>;
  static View ViewOf(const Value& v) { return {v.*kFirst, v.*kSecond, v.*kThird}; }
  static size_t HashOf(const View& view) { return absl::HashOf(view); }
  static Value Make(const View& view) {
    const auto& [first, second, third] = view;
    Value value;
    value.*kFirst = first;
    value.*kSecond = second;
    value.*kThird = third;
    return value;
  }
};

// Whose a transaction or a lock is: one of few, so records share it.
struct Client {
  std::string user;
  std::string host;
  std::string agent;
};
using ClientTraits = TextsTraits<Client, &Client::user, &Client::host, &Client::agent>;
using Clients = Interned<Client, ClientTraits>;
using ClientRef = Clients::Ref;

// What locks name.
using ResourceTraits = TextsTraits<LockResource,
                                   &LockResource::database,
                                   &LockResource::table,
                                   &LockResource::partition>;
using Resources = Interned<LockResource, ResourceTraits>;
using ResourceRef = Resources::Ref;

}  // namespace skep::state
