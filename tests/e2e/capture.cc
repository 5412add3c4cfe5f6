#include "tests/e2e/capture.h"

#include <gtest/gtest.h>

#include <boost/process.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace wiretoll {
namespace {

namespace bp = boost::process;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::uint32_t Big(const std::string& data, std::size_t at, int size) {
  std::uint32_t value = 0;
  for (int i = 0; i < size; ++i)
    value = value << 8 | static_cast<unsigned char>(data[at + i]);
  return value;
}

std::uint32_t Little(const std::string& data, std::size_t at) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(data[at + i]);
  return value;
}

void ReadOptions(const std::string& data, std::size_t at, std::size_t end,
                 SeenSegment& segment) {
  while (at < end) {
    const int kind = static_cast<unsigned char>(data[at]);
    if (kind == 0) return;
    if (kind == 1) {
      ++at;
      continue;
    }
    const std::uint32_t length = Big(data, at + 1, 1);
    if (kind == 2) segment.mss_option = static_cast<int>(Big(data, at + 2, 2));
    at += std::max<std::uint32_t>(2, length);
  }
}

// Ethernet, IPv4, TCP; anything else is no segment.
bool Dissect(const std::string& frame, SeenSegment& segment) {
  if (frame.size() < 54 || Big(frame, 12, 2) != 0x0800) return false;
  if (Big(frame, 23, 1) != 6) return false;
  const std::size_t ip = 14;
  const std::size_t ip_header = std::size_t{4} * (Big(frame, ip, 1) & 15);
  const std::size_t tcp = ip + ip_header;
  const std::size_t tcp_header =
      std::size_t{4} * (Big(frame, tcp + 12, 1) >> 4);
  for (int i = 0; i < 4; ++i) {
    segment.source +=
        (i > 0 ? "." : "") + std::to_string(Big(frame, ip + 12 + i, 1));
  }
  segment.source_port = static_cast<std::uint16_t>(Big(frame, tcp, 2));
  segment.sequence = Big(frame, tcp + 4, 4);
  segment.acknowledged = Big(frame, tcp + 8, 4);
  const std::uint32_t flags = Big(frame, tcp + 13, 1);
  segment.fin = (flags & 1) != 0;
  segment.syn = (flags & 2) != 0;
  segment.ack = (flags & 16) != 0;
  segment.window = static_cast<int>(Big(frame, tcp + 14, 2));
  segment.ip_bytes = static_cast<int>(Big(frame, ip + 2, 2));
  segment.payload = segment.ip_bytes - static_cast<int>(ip_header + tcp_header);
  ReadOptions(frame, tcp + 20, tcp + tcp_header, segment);
  return true;
}

}  // namespace

bool HaveTcpdump() { return !bp::search_path("tcpdump").empty(); }

struct Capture::State {
  fs::path file;
  bp::ipstream error;
  bp::child child;
};

Capture::Capture(const std::string& netns, const std::string& interface)
    : state_(std::make_unique<State>()) {
  state_->file = fs::temp_directory_path() / ("capture-" + netns + ".pcap");
  state_->child =
      bp::child(bp::search_path("ip"), "netns", "exec", netns, "tcpdump", "-i",
                interface, "-w", state_->file.string(), "-U", "-s", "100", "-B",
                "65536", "tcp", bp::std_err > state_->error,
                bp::std_out > bp::null, bp::std_in < bp::null);
  std::string line;
  while (std::getline(state_->error, line) &&
         line.find("listening on") == std::string::npos) {
  }
}

Capture::~Capture() {
  std::error_code gone;
  if (state_->child.running(gone)) state_->child.terminate(gone);
  state_->child.wait(gone);
  fs::remove(state_->file, gone);
}

std::vector<SeenSegment> Capture::Stop() {
  // The kernel hands packets over in blocks, up to a second late.
  std::this_thread::sleep_for(1200ms);
  ::kill(state_->child.id(), SIGINT);
  state_->child.wait();
  std::ifstream in(state_->file, std::ios::binary);
  const std::string data{std::istreambuf_iterator<char>(in), {}};
  std::vector<SeenSegment> seen;
  for (std::size_t at = 24; at + 16 <= data.size();) {
    const std::uint32_t kept = Little(data, at + 8);
    SeenSegment segment;
    segment.time = Little(data, at) + 1e-6 * Little(data, at + 4);
    if (Dissect(data.substr(at + 16, kept), segment)) seen.push_back(segment);
    at += 16 + kept;
  }
  return seen;
}

}  // namespace wiretoll
