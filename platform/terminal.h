// The little a program for people needs to know of its surroundings.
#ifndef WIRETOLL_PLATFORM_TERMINAL_H_
#define WIRETOLL_PLATFORM_TERMINAL_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace wiretoll {

// True if a person reads standard error as it comes.
bool StandardErrorIsTerminal();

// Becomes another program: same process, same files. Returns only if that
// failed. The program is looked up on PATH unless it holds a slash.
// Errors: no_such_file_or_directory, permission_denied,
// operation_not_supported where a process cannot do that.
Error ReplaceProcess(const std::vector<std::string>& command);

// The file this program was started from; empty if the system does not tell.
std::filesystem::path ProgramFile();

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_TERMINAL_H_
