#pragma once

#include <filesystem>

namespace skep::fuzz {

// Writes the inputs of the ORC entries below `dir`: files of our own writer, and runs from the
// worked examples of the format.
void MakeOrcCorpus(const std::filesystem::path& dir);

}  // namespace skep::fuzz
