// The loop that wiretoll's own is held against: nothing but the system calls.
//   bare-loop send ADDRESS PORT SIZE COUNT NODELAY [FROM-PORT]
//   bare-loop receive ADDRESS PORT SIZE
// Prints nanoseconds and bytes.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

long long Now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

sockaddr_in At(const char* port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  return at;
}

int Open(const char* address, const char* port, bool receive,
         const char* from_port) {
  sockaddr_in at = At(port);
  inet_pton(AF_INET, address, &at.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const auto* name = reinterpret_cast<const sockaddr*>(&at);
  if (from_port != nullptr) {
    const sockaddr_in from = At(from_port);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) {
      return -1;
    }
  }
  if (!receive) return connect(fd, name, sizeof at) == 0 ? fd : -1;
  if (bind(fd, name, sizeof at) != 0 || listen(fd, 1) != 0) return -1;
  return accept(fd, nullptr, nullptr);
}

void Send(int fd, std::size_t size, long long count, int nodelay) {
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, sizeof nodelay);
  const std::vector<char> data(size, 'w');
  long long bytes = 0;
  const long long begun = Now();
  for (long long i = 0; i < count; ++i) {
    const ssize_t sent = write(fd, data.data(), data.size());
    if (sent < 0) break;
    bytes += sent;
  }
  std::printf("%lld %lld\n", Now() - begun, bytes);
}

void Receive(int fd, std::size_t size) {
  std::vector<char> data(size);
  long long bytes = read(fd, data.data(), data.size());
  const long long begun = Now();
  for (ssize_t got = 0; (got = read(fd, data.data(), data.size())) > 0;)
    bytes += got;
  std::printf("%lld %lld\n", Now() - begun, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const bool receive = argc > 1 && std::string(argv[1]) == "receive";
  if (argc != (receive ? 5 : 7) && (receive || argc != 8)) return 2;
  const int fd = Open(argv[2], argv[3], receive, argc == 8 ? argv[7] : nullptr);
  if (fd < 0) return 1;
  const auto size = static_cast<std::size_t>(std::atoll(argv[4]));
  if (receive) {
    Receive(fd, size);
  } else {
    Send(fd, size, std::atoll(argv[5]), std::atoi(argv[6]));
  }
  return close(fd) == 0 ? 0 : 1;
}
