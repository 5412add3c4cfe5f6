// The loops that wiretoll's own datagrams are held against: nothing but the
// system calls.
//   bare-datagrams send ADDRESS PORT SIZE MILLISECONDS
//   bare-datagrams receive ADDRESS PORT SIZE
// Prints nanoseconds and datagrams. The receiver ends when it is quiet.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr long kQuietMilliseconds = 200;
constexpr int kQuietsBeforeTheFirst = 100;

// By a signal, so that no loop has to look at a clock.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t over = 0;

long long Now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

timeval Milliseconds(long count) { return {count / 1000, count % 1000 * 1000}; }

int Open(const char* address, const char* port, bool receive) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  inet_pton(AF_INET, address, &at.sin_addr);
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const auto* name = reinterpret_cast<const sockaddr*>(&at);
  const int done =
      receive ? bind(fd, name, sizeof at) : connect(fd, name, sizeof at);
  return done == 0 ? fd : -1;
}

void Send(int fd, std::size_t size, long milliseconds) {
  std::signal(SIGALRM, [](int) { over = 1; });
  const itimerval once{{0, 0}, Milliseconds(milliseconds)};
  setitimer(ITIMER_REAL, &once, nullptr);
  const std::vector<char> data(size, 'w');
  long long count = 0;
  const long long begun = Now();
  while (over == 0) {
    if (send(fd, data.data(), data.size(), 0) >= 0) ++count;
  }
  std::printf("%lld %lld\n", Now() - begun, count);
}

// What passed until it was quiet, less the time it took to be sure of that: at
// most some milliseconds too much, as systems round a time-out up.
void Receive(int fd, std::size_t size) {
  const timeval quiet = Milliseconds(kQuietMilliseconds);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &quiet, sizeof quiet);
  std::vector<char> data(size);
  for (int i = 0; recv(fd, data.data(), data.size(), 0) < 0; ++i) {
    if (errno != EAGAIN || i == kQuietsBeforeTheFirst) return;
  }
  long long count = 1;
  const long long begun = Now();
  while (recv(fd, data.data(), data.size(), 0) >= 0) ++count;
  std::printf("%lld %lld\n", Now() - begun - kQuietMilliseconds * 1'000'000,
              count);
}

}  // namespace

int main(int argc, char** argv) {
  const bool receive = argc > 1 && std::string(argv[1]) == "receive";
  if (argc != (receive ? 5 : 6)) return 2;
  const int fd = Open(argv[2], argv[3], receive);
  if (fd < 0) return 1;
  const auto size = static_cast<std::size_t>(std::atoll(argv[4]));
  if (receive) {
    Receive(fd, size);
  } else {
    Send(fd, size, std::atol(argv[5]));
  }
  return close(fd) == 0 ? 0 : 1;
}
