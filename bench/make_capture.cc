// A capture to be read by bench/observe-speed: so many frames of ten TCP
// connections, as a line of full segments with timestamps has them: two of
// data, an ACK; each thousandth segment is sent once more. 96 bytes are kept.
//
//   make-capture FILE FRAMES
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>

#include "harness/capture/pcapng_writer.h"

namespace wiretoll {
namespace {

constexpr int kConnections = 10;
constexpr std::size_t kKept = 96;
constexpr std::uint32_t kPayload = 1448;
constexpr std::uint32_t kHeaders = 14 + 20 + 32;
constexpr std::int64_t kBegin = 1'796'112'000'000'000'000;
constexpr std::int64_t kBetween = 1000;  // Nanoseconds.

void Put(std::uint32_t value, int bytes, std::string& to) {
  for (int i = bytes - 1; i >= 0; --i)
    to += static_cast<char>((value >> (8 * i)) & 0xFF);
}

struct Connection {
  std::uint32_t port = 0;
  std::uint32_t sent = 1;
  std::uint32_t acknowledged = 1;
  int step = 0;
};

// What a frame says; the rest is the same in all.
struct Segment {
  bool from_client = true;
  std::uint32_t sequence = 1, acknowledgment = 1;
  std::uint32_t flags = 0x10;
  std::uint32_t payload = 0;
};

std::string Frame(const Connection& connection, const Segment& segment) {
  constexpr std::uint32_t kClient = 0x0A000001, kServer = 0x0A000002;
  const bool out = segment.from_client;
  std::string frame(12, '\x02');
  Put(0x0800, 2, frame);
  Put(0x4500, 2, frame);
  Put(kHeaders - 14 + segment.payload, 2, frame);
  Put(0x00004000, 4, frame);
  Put(0x40060000, 4, frame);
  Put(out ? kClient : kServer, 4, frame);
  Put(out ? kServer : kClient, 4, frame);
  Put(out ? connection.port : 80, 2, frame);
  Put(out ? 80 : connection.port, 2, frame);
  Put(segment.sequence, 4, frame);
  Put(segment.acknowledgment, 4, frame);
  Put(0x8000 | segment.flags, 2, frame);
  Put(0xFFFF0000, 4, frame);
  Put(0, 2, frame);
  const bool syn = (segment.flags & 2) != 0;
  // MSS 1460, SACK permitted, window scale 7; or two NOPs and timestamps.
  Put(syn ? 0x020405B4 : 0x0101080A, 4, frame);
  Put(syn ? 0x04020101 : 1, 4, frame);
  Put(syn ? 0x01030307 : 1, 4, frame);
  frame.resize(kKept, 'x');
  return frame;
}

// The next segment of a connection.
Segment Next(Connection& connection) {
  const int step = connection.step++;
  if (step == 0) return {true, 0, 0, 0x02, 0};
  if (step == 1) return {false, 0, 1, 0x12, 0};
  if (step == 2) return {true, 1, 1, 0x10, 0};
  if (step % 3 == 2) {
    connection.acknowledged = connection.sent;
    return {false, 1, connection.sent, 0x10, 0};
  }
  const bool again = step % 1000 == 1 && connection.sent > kPayload;
  const std::uint32_t sequence =
      again ? connection.sent - kPayload : connection.sent;
  if (!again) connection.sent += kPayload;
  return {true, sequence, 1, 0x18, kPayload};
}

int Make(const char* file, long long frames) {
  std::ofstream out(file, std::ios::binary);
  PcapngWriter writer({"bench", kLinkEthernet, kKept});
  std::array<Connection, kConnections> connections;
  for (int i = 0; i < kConnections; ++i)
    connections[static_cast<std::size_t>(i)].port =
        static_cast<std::uint32_t>(40000 + i);
  for (long long i = 0; i < frames; ++i) {
    Connection& connection =
        connections[static_cast<std::size_t>(i / 3 % kConnections)];
    const Segment segment = Next(connection);
    const std::string frame = Frame(connection, segment);
    const std::uint32_t length = kHeaders + segment.payload;
    writer.Add(kBegin + i * kBetween,
               std::as_bytes(std::span(frame))
                   .first(std::min<std::size_t>(kKept, length)),
               length);
    if (i % 10'000 == 0) out << writer.Take();
  }
  writer.Finish({kBegin + frames * kBetween, frames, 0, ""});
  out << writer.Take();
  out.close();
  if (out) return EXIT_SUCCESS;
  std::fprintf(stderr, "make-capture: %s cannot be written\n", file);
  return 3;
}

}  // namespace
}  // namespace wiretoll

int main(int argc, char** argv) {
  const long long frames = argc == 3 ? std::atoll(argv[2]) : 0;
  if (frames <= 0) {
    std::fprintf(stderr, "usage: make-capture FILE FRAMES\n");
    return 2;
  }
  return wiretoll::Make(argv[1], frames);
}
