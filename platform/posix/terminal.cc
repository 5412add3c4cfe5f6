#include "platform/terminal.h"

#include <unistd.h>

#include <cerrno>

namespace wiretoll {

bool StandardErrorIsTerminal() { return ::isatty(STDERR_FILENO) == 1; }

Error ReplaceProcess(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& part : command) {
    // execvp promises not to write through these; its type predates const.
    arguments.push_back(const_cast<char*>(part.c_str()));
  }
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  return {errno, boost::system::system_category()};
}

std::filesystem::path ProgramFile() {
  std::error_code error;
  auto file = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : file;
}

}  // namespace wiretoll
