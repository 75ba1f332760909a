#pragma once

#include <random>
#include <string>
#include <vector>

namespace skep::fuzz {

// The files of tests/fuzz/corpus/<name>, by name.
std::vector<std::string> CorpusOf(const std::string& name);

// An input near those of `corpus`, which must not be empty: one or two of them with bytes changed,
// taken out, put in, cut off or exchanged. What libFuzzer does, without its eyes.
std::string NextInput(const std::vector<std::string>& corpus, std::mt19937_64& random);

}  // namespace skep::fuzz
