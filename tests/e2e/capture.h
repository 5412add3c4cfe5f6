// What tcpdump sees on an interface, for tests.
#ifndef WIRETOLL_TESTS_E2E_CAPTURE_H_
#define WIRETOLL_TESTS_E2E_CAPTURE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wiretoll {

// One TCP segment over IPv4.
struct SeenSegment {
  double time = 0;  // Seconds.
  std::string source;
  std::uint16_t source_port = 0;
  int ip_bytes = 0;  // The packet's length, header included.
  int payload = 0;
  int window = 0;  // As in the header: not scaled.
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
  bool syn = false, ack = false, fin = false;
  int mss_option = 0;  // 0: none.
};

bool HaveTcpdump();

// Captures from construction (which returns once the capture is live) to
// Stop().
class Capture {
 public:
  Capture(const std::string& netns, const std::string& interface);
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  // Waits until what was sent has been written, then gives all of it.
  std::vector<SeenSegment> Stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_E2E_CAPTURE_H_
