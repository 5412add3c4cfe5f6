#include "platform/terminal.h"

#include <string>

#include "platform/win32/native.h"

namespace wiretoll {

// Of a pipe or a file there is no console mode.
bool StandardErrorIsTerminal() {
  DWORD mode = 0;
  return ::GetConsoleMode(::GetStdHandle(STD_ERROR_HANDLE), &mode) != 0;
}

// Windows starts a new process and cannot become another program.
Error ReplaceProcess(const std::vector<std::string>& /*command*/) {
  return ErrorFrom(WSAEOPNOTSUPP);
}

std::filesystem::path ProgramFile() {
  constexpr std::size_t kLongestPath = 32'768;
  for (std::wstring file(MAX_PATH, L'\0'); file.size() <= kLongestPath;
       file.resize(2 * file.size())) {
    const DWORD length = ::GetModuleFileNameW(nullptr, file.data(),
                                              static_cast<DWORD>(file.size()));
    if (length == 0) return {};
    if (length < file.size()) {
      file.resize(length);
      return file;
    }
  }
  return {};
}

}  // namespace wiretoll
