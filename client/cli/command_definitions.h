#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/cli/options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace skep::cli {

// Called with what a command line chose.
using Choose = std::function<void(Command, std::string words)>;

// Adds every command to `app`, with its help. `choose` must outlive the parse.
void DefineCommands(CLI::App& app, const Choose& choose);

// Validators in CLI11's form: empty if fine, else what is wrong.
std::string CheckId(const std::string& text);
std::string CheckSpan(const std::string& text);

}  // namespace skep::cli
