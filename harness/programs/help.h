// What --help says, for people at a terminal of 80 columns.
#ifndef WIRETOLL_HARNESS_PROGRAMS_HELP_H_
#define WIRETOLL_HARNESS_PROGRAMS_HELP_H_

#include <CLI/CLI.hpp>
#include <string>

namespace wiretoll {

// One option an entry, wrapped, without what CLI11 says for programmers.
class Help : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option,
                          bool is_positional) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
};

// A line of such a text, wrapped, with its newline: what, and what of it.
std::string HelpEntry(const std::string& left, const std::string& right);

// Gives every verb that `app` has its examples, and `app` itself its first
// steps.
void AddExamples(CLI::App& app);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_HELP_H_
