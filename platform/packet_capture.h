// Frames as they pass one interface of this host, while a trial runs.
#ifndef WIRETOLL_PLATFORM_PACKET_CAPTURE_H_
#define WIRETOLL_PLATFORM_PACKET_CAPTURE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "harness/base/result.h"
#include "harness/base/units.h"

namespace wiretoll {

struct CaptureSpec {
  std::string local_address;  // Numeric; whose interface carries it, captures.
  std::string peer_address;   // Only what passes between the two is kept,
  std::uint16_t first_port = 0;  // and of TCP and UDP only what has a port of
  std::uint16_t last_port = 0;   // this range at either end. 0 and 0: any.
  std::uint32_t snap_bytes = 0;  // Kept of a frame; at least 1.
};

struct PassingFrame {
  // By the monotonic clock, as the program's own calls. A kernel that stamps
  // by the wall clock, stepped while the frame waited to be read (10 ms), puts
  // it off by as much as that step.
  SteadyTime time{};
  std::span<const std::byte> bytes;  // From the link header on; valid during
                                     // the call only.
  std::uint32_t original_bytes = 0;  // Without FCS and preamble.
};
using FrameSink = std::function<void(const PassingFrame&)>;

// Of the frames that passed the filter.
struct CaptureCounts {
  std::int64_t received = 0;  // Dropped ones included.
  std::int64_t dropped = 0;   // No room was left: read too seldom.
};

// Where a frame is seen: outgoing ones after the queueing discipline, so that
// what a shaper dropped is not in it; on a loopback interface each frame once.
//
// Threads    one at a time.
// Ownership  ends with the object, and with the process.
class PacketCapture {
 public:
  // Live when it returns: every frame from now on counts.
  // Errors: operation_not_permitted (needs the right to capture),
  // address_not_available (no interface carries the address),
  // protocol_not_supported (the interface is no Ethernet),
  // operation_not_supported (not on this system).
  static Result<PacketCapture> Open(const CaptureSpec& spec);

  PacketCapture(PacketCapture&&) noexcept;
  PacketCapture& operator=(PacketCapture&&) = delete;
  ~PacketCapture();

  [[nodiscard]] const std::string& interface_name() const;

  // Hands over what has come since; without anything waits for it, at most
  // for `patience`. A frame may come some 10 ms late. Gives the number of
  // frames.
  Result<std::int64_t> Read(std::chrono::milliseconds patience,
                            const FrameSink& take);
  // Since Open().
  Result<CaptureCounts> Counts();

 private:
  struct State;
  explicit PacketCapture(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_PLATFORM_PACKET_CAPTURE_H_
