// The loop that wiretoll's own is held against: nothing but Winsock's calls.
//   bare-loop send ADDRESS PORT SIZE COUNT NODELAY
//   bare-loop receive ADDRESS PORT SIZE
// Prints nanoseconds and bytes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "platform/win32/native.h"

namespace {

long long Now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

SOCKET Open(const char* address, const char* port, bool receive) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<u_short>(std::atoi(port)));
  inet_pton(AF_INET, address, &at.sin_addr);
  const SOCKET s = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
  const auto* name = reinterpret_cast<const sockaddr*>(&at);
  if (!receive) return connect(s, name, sizeof at) == 0 ? s : INVALID_SOCKET;
  if (bind(s, name, sizeof at) != 0 || listen(s, 1) != 0) return INVALID_SOCKET;
  return accept(s, nullptr, nullptr);
}

void Send(SOCKET s, int size, long long count, int nodelay) {
  setsockopt(s, IPPROTO_TCP, TCP_NODELAY,
             reinterpret_cast<const char*>(&nodelay), sizeof nodelay);
  const std::vector<char> data(static_cast<std::size_t>(size), 'w');
  long long bytes = 0;
  const long long begun = Now();
  for (long long i = 0; i < count; ++i) {
    const int sent = send(s, data.data(), size, 0);
    if (sent < 0) break;
    bytes += sent;
  }
  std::printf("%lld %lld\n", Now() - begun, bytes);
}

void Receive(SOCKET s, int size) {
  std::vector<char> data(static_cast<std::size_t>(size));
  long long bytes = recv(s, data.data(), size, 0);
  const long long begun = Now();
  for (int got = 0; (got = recv(s, data.data(), size, 0)) > 0;) bytes += got;
  std::printf("%lld %lld\n", Now() - begun, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const bool receive = argc > 1 && std::string(argv[1]) == "receive";
  if (argc != (receive ? 5 : 7)) return 2;
  WSADATA ignored{};
  if (WSAStartup(MAKEWORD(2, 2), &ignored) != 0) return 1;
  const SOCKET s = Open(argv[2], argv[3], receive);
  if (s == INVALID_SOCKET) return 1;
  const int size = std::atoi(argv[4]);
  if (receive) {
    Receive(s, size);
  } else {
    Send(s, size, std::atoll(argv[5]), std::atoi(argv[6]));
  }
  return closesocket(s) == 0 ? 0 : 1;
}
