#include "platform/process.h"

#include <fcntl.h>
#include <io.h>

#include <cstdio>

#include "platform/win32/native.h"

namespace wiretoll {
namespace {

// Winsock, for as long as the process lives.
class Winsock {
 public:
  Winsock() {
    WSADATA ignored{};
    // Gives its error itself, not to WSAGetLastError().
    const int failure = ::WSAStartup(MAKEWORD(2, 2), &ignored);
    error_ = ErrorFrom(static_cast<DWORD>(failure));
  }
  ~Winsock() {
    if (!error_) ::WSACleanup();
  }
  Winsock(const Winsock&) = delete;
  Winsock& operator=(const Winsock&) = delete;

  [[nodiscard]] Error error() const { return error_; }

 private:
  Error error_;
};

// Text mode ends input at byte 26 and makes two bytes of a newline.
bool MakeBinary(std::FILE* stream) {
  return ::_setmode(::_fileno(stream), _O_BINARY) != -1;
}

}  // namespace

Result<Done> PrepareProcess() {
  static const Winsock kWinsock;  // Once, whoever calls and however often.
  if (kWinsock.error()) return kWinsock.error();
  // Nobody may be there to close a window about a crash.
  ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
  if (!MakeBinary(stdin) || !MakeBinary(stdout)) {
    return ErrorFrom(ERROR_INVALID_HANDLE);
  }
  return Done{};
}

void KeepFromChildren(std::intptr_t handle) {
  ::SetHandleInformation(reinterpret_cast<HANDLE>(handle), HANDLE_FLAG_INHERIT,
                         0);
}

}  // namespace wiretoll
