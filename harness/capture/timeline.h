// One TCP connection as a capture saw it, segment by segment: what replays,
// stories and pictures are made of.
#ifndef WIRETOLL_HARNESS_CAPTURE_TIMELINE_H_
#define WIRETOLL_HARNESS_CAPTURE_TIMELINE_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace wiretoll {

// An address and its port: "10.0.0.1", or RFC 5952's form of an IPv6 address.
struct ConnectionEnd {
  std::string address;
  std::uint16_t port = 0;
  bool operator==(const ConnectionEnd&) const = default;
};

struct TimelineSegment {
  std::int64_t time_ns = 0;  // Since 1970-01-01T00:00:00Z, by the clock of the
                             // host that captured.
  bool from_client = false;  // The end that opened the connection.
  // Offset of the payload's first byte in its direction's stream, counted from
  // 0 after the SYN and over 4 GiB; of a segment without payload where the
  // next byte would be.
  std::int64_t offset = 0;
  std::int64_t payload_bytes = 0;
  // The peer's bytes that are acknowledged: offset of the first that is not.
  // FIN and SYN are not counted. Empty without the ACK flag.
  std::optional<std::int64_t> acknowledged;
  std::int64_t window_bytes = 0;  // Advertised, scaled by what SYNs agreed on.
  std::int64_t ip_bytes = 0;      // Length of the IP packet.
  // Frames that it was or became on the wire: more than one for a packet that
  // an offload had not split yet, counted by the MSS.
  std::int64_t frames = 1;
  bool syn = false, fin = false, rst = false, psh = false;
  bool retransmission = false;  // Payload that this direction sent before.
  bool out_of_order = false;    // Fills a gap behind later bytes, not seen
                                // before: reordered, or the capture missed it.
  bool probe = false;  // Keep-alive or window probe: no payload or one byte,
                       // below what is acknowledged already, or one byte into a
                       // closed window.
  [[nodiscard]] bool data() const { return payload_bytes > 0; }
};

struct Timeline {
  ConnectionEnd client, server;
  // Told by the SYNs; empty where those were not seen. Windows are not scaled
  // then, and `partial` says so.
  std::optional<std::int64_t> client_scale, server_scale;
  std::optional<std::int64_t> client_mss, server_mss;
  bool timestamps = false;
  std::vector<TimelineSegment> segments;  // In the order they were captured.
  std::int64_t dropped_frames = 0;  // Of the whole capture, where it tells.
  // What is missing: frames dropped, file torn, begin not seen, cut by a limit.
  std::string partial;
};

// The connection of `capture` that has the port at either end; without a port
// the only one, or the one with the most payload. kUsage: the file cannot be
// read, is no capture, or holds no such connection; names the file and says
// what it does hold. At most `most_segments` are kept; `partial` says where
// that cut it.
Outcome<Timeline> ReadTimeline(const std::filesystem::path& capture,
                               std::optional<std::uint16_t> port,
                               std::int64_t most_segments = 2'000'000);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_TIMELINE_H_
