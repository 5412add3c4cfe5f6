// By CreateProcess: what Boost.Process 1.74 needs for it, MinGW has not.
#include <stdexcept>
#include <utility>

#include "platform/win32/native.h"
#include "tests/agent/child_process.h"

namespace wiretoll {
namespace {

class Handle {
 public:
  Handle() = default;
  explicit Handle(HANDLE owned) : native_(owned) {}
  ~Handle() { Close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Handle& operator=(Handle&& other) noexcept {
    Close();
    native_ = std::exchange(other.native_, nullptr);
    return *this;
  }

  void Close() {
    if (native_ != nullptr) ::CloseHandle(native_);
    native_ = nullptr;
  }
  [[nodiscard]] HANDLE get() const { return native_; }

 private:
  HANDLE native_ = nullptr;
};

void Require(BOOL worked, const std::string& what) {
  if (worked != 0) return;
  throw std::runtime_error(what + ": " + ErrorFrom(::GetLastError()).message());
}

// The end `inherited` is for the child, and for no other.
void MakePipe(Handle& read_end, Handle& write_end, const Handle& inherited) {
  HANDLE read = nullptr;
  HANDLE write = nullptr;
  Require(::CreatePipe(&read, &write, nullptr, 0), "CreatePipe");
  read_end = Handle(read);
  write_end = Handle(write);
  Require(::SetHandleInformation(inherited.get(), HANDLE_FLAG_INHERIT,
                                 HANDLE_FLAG_INHERIT),
          "SetHandleInformation");
}

}  // namespace

struct ChildProcess::Pipes {
  Handle in;
  Handle out;
  Handle process;
  std::string unread;
};

ChildProcess::ChildProcess(const std::string& program)
    : pipes_(std::make_unique<Pipes>()) {
  Handle child_in;
  Handle child_out;
  MakePipe(child_in, pipes_->in, child_in);
  MakePipe(pipes_->out, child_out, child_out);
  STARTUPINFOA start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = child_in.get();
  start.hStdOutput = child_out.get();
  start.hStdError = ::GetStdHandle(STD_ERROR_HANDLE);
  PROCESS_INFORMATION started{};
  std::string command = "\"" + program + "\"";
  Require(::CreateProcessA(nullptr, command.data(), nullptr, nullptr, TRUE, 0,
                           nullptr, nullptr, &start, &started),
          program);
  ::CloseHandle(started.hThread);
  pipes_->process = Handle(started.hProcess);
}

ChildProcess::~ChildProcess() {
  if (!WaitForEnd(std::chrono::milliseconds{0})) {
    ::TerminateProcess(pipes_->process.get(), 1);
  }
}

void ChildProcess::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    DWORD written = 0;
    const auto size = static_cast<DWORD>(WinsockLength(bytes.size()));
    if (::WriteFile(pipes_->in.get(), bytes.data(), size, &written, nullptr) ==
        0) {
      return;  // It is gone; what it said last tells.
    }
    bytes.remove_prefix(written);
  }
}

void ChildProcess::CloseInput() { pipes_->in.Close(); }

std::optional<std::string> ChildProcess::ReadLine() {
  std::string& unread = pipes_->unread;
  std::size_t end = unread.find('\n');
  while (end == std::string::npos) {
    std::string more(4096, '\0');
    DWORD got = 0;
    if (::ReadFile(pipes_->out.get(), more.data(),
                   static_cast<DWORD>(more.size()), &got, nullptr) == 0 ||
        got == 0) {
      return std::nullopt;
    }
    unread.append(more, 0, got);
    end = unread.find('\n');
  }
  std::string line = unread.substr(0, end);
  unread.erase(0, end + 1);
  return line;
}

std::optional<int> ChildProcess::WaitForEnd(std::chrono::milliseconds time) {
  const auto most = static_cast<DWORD>(time.count());
  if (::WaitForSingleObject(pipes_->process.get(), most) != WAIT_OBJECT_0) {
    return std::nullopt;
  }
  DWORD code = 0;
  Require(::GetExitCodeProcess(pipes_->process.get(), &code),
          "GetExitCodeProcess");
  return static_cast<int>(code);
}

}  // namespace wiretoll
