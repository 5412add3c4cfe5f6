// Smallest frames as fast as a line takes them: for the benchmark of captures.
//   frame-blast ADDRESS PORT COUNT
// UDP datagrams of 18 bytes are frames of 64 with their FCS, 84 with preamble
// and gap. Prints how many were handed over, and nanoseconds.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr std::size_t kPayload = 18;
constexpr unsigned kBatch = 64;

long long Now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

// Blocks while the line's queue is full, so that nothing is lost in it. Not
// connected: that nobody listens is no error then.
long long Blast(int fd, sockaddr_in to, long long count) {
  std::array<char, kPayload> payload{};
  iovec piece{payload.data(), payload.size()};
  std::array<mmsghdr, kBatch> batch{};
  for (mmsghdr& message : batch) {
    message.msg_hdr.msg_name = &to;
    message.msg_hdr.msg_namelen = sizeof to;
    message.msg_hdr.msg_iov = &piece;
    message.msg_hdr.msg_iovlen = 1;
  }
  long long sent = 0;
  while (sent < count) {
    const auto left =
        static_cast<unsigned>(std::min<long long>(kBatch, count - sent));
    const int taken = sendmmsg(fd, batch.data(), left, 0);
    if (taken <= 0) break;
    sent += taken;
  }
  return sent;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[2])));
  inet_pton(AF_INET, argv[1], &to.sin_addr);
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  const long long begun = Now();
  const long long sent = Blast(fd, to, std::atoll(argv[3]));
  std::printf("%lld %lld\n", sent, Now() - begun);
  return 0;
}
