#include "tests/fuzz/corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace skep::fuzz {
namespace {

// Numbers at which readers turn.
constexpr uint64_t kInteresting[] = {0,
                                     1,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0xffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x7fffffffffffffff,
                                     0xffffffffffffffff};

void ChangeOnce(std::string& input,
                const std::vector<std::string>& corpus,
                std::mt19937_64& random) {
  const auto below = [&random](size_t bound) { return static_cast<size_t>(random() % bound); };
  const size_t at = below(input.size() + 1);
  const size_t left = input.size() - at;
  switch (below(7)) {
    case 0:  // one bit
      if (left > 0) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
      return;
    case 1:  // one byte
      if (left > 0) input[at] = static_cast<char>(random());
      return;
    case 2:  // a number
      for (size_t i = 0, width = size_t{1} << below(4); i < width && at + i < input.size(); ++i) {
        input[at + i] = static_cast<char>(kInteresting[below(std::size(kInteresting))] >> (8 * i));
      }
      return;
    case 3:  // fewer bytes
      input.erase(at, below(std::min<size_t>(left, 16) + 1));
      return;
    case 4:  // more
      input.insert(at, below(9), static_cast<char>(random()));
      return;
    case 5:  // an end
      if (below(8) == 0) input.resize(at);
      return;
    default: {  // a piece of another one
      const std::string& other = corpus[below(corpus.size())];
      const size_t from = below(other.size() + 1);
      const std::string piece = other.substr(from, below(64));
      input.replace(at, below(std::min<size_t>(left, 64) + 1), piece);
    }
  }
}

}  // namespace

std::vector<std::string> CorpusOf(const std::string& name) {
  std::vector<std::string> paths;
  const std::string dir = std::filesystem::path(SKEP_FUZZ_CORPUS) / name;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error)) {
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

std::string NextInput(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  std::string input = corpus[random() % corpus.size()];
  for (uint64_t left = 1 + random() % 6; left > 0; --left) ChangeOnce(input, corpus, random);
  return input;
}

}  // namespace skep::fuzz
