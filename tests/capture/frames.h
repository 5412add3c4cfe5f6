// Frames and captures made byte by byte, so that every figure that is read out
// of them can be derived from what went in.
#ifndef WIRETOLL_TESTS_CAPTURE_FRAMES_H_
#define WIRETOLL_TESTS_CAPTURE_FRAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/capture/capture_reader.h"
#include "harness/capture/dissect.h"

namespace wiretoll {

// Most significant byte first, as on the wire.
std::string Big(std::uint64_t value, int bytes);
std::string Little(std::uint64_t value, int bytes);

// Two hosts, for all of them: 10.0.0.1 is the client, 10.0.0.2 the server.
struct TcpSpec {
  bool from_client = true;
  std::uint16_t client_port = 40000, server_port = 80;
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::string flags = "A";  // Any of SAFRP.
  std::uint16_t window = 1000;
  std::string options;  // Padded to fours here.
  std::size_t payload = 0;
};
std::string TcpSegment(const TcpSpec& spec);
std::string UdpDatagram(std::uint16_t from, std::uint16_t to,
                        std::size_t payload);

// A header of 20 bytes and `options` before `body`; from the client to the
// server unless told. `fragment` as in the header: flags and offset.
struct Ipv4Spec {
  std::uint8_t protocol = 6;
  bool from_client = true;
  std::string options;
  std::uint16_t id = 1, fragment = 0;
  int length = -1;  // As it shall stand there; -1: the right one.
};
std::string Ipv4(const Ipv4Spec& spec, const std::string& body);
// 2001:db8::1 to 2001:db8::2.
std::string Ipv6(std::uint8_t next_header, const std::string& body,
                 int length = -1);
std::string Ethernet(std::uint16_t type, const std::string& body);
// All of it: Ethernet, IPv4, TCP.
std::string TcpFrame(const TcpSpec& spec);

// MSS, window scale and SACK permitted, as a SYN has them.
std::string SynOptions(std::uint16_t mss, std::uint8_t scale);
// NOP, NOP, timestamps: 12 bytes.
std::string TimestampOption();

// A frame of Dissect()'s; keeps `bytes`, which has to live on.
CapturedFrame FrameOf(const std::string& bytes, std::uint16_t link_type = 1,
                      std::int64_t time_ns = 0);
Packet DissectBytes(const std::string& bytes, std::uint16_t link_type = 1);

// pcap. `big`: most significant byte first.
std::string PcapHead(std::uint32_t link_type = 1, bool big = false,
                     bool nanoseconds = false);
// A record; `original` 0: as long as `frame`.
std::string PcapRecord(std::uint32_t seconds, std::uint32_t part,
                       const std::string& frame, bool big = false,
                       std::uint32_t original = 0);

// pcapng blocks, with lengths and padding.
std::string Block(std::uint32_t type, const std::string& body,
                  bool big = false);
std::string Option(std::uint16_t code, const std::string& value,
                   bool big = false);
std::string SectionBlock(bool big = false);
std::string InterfaceBlock(std::uint16_t link_type = 1,
                           const std::string& options = "", bool big = false);
// `units` of the interface's resolution.
std::string PacketBlock(std::uint32_t interface, std::uint64_t units,
                        const std::string& frame, bool big = false);

// All frames of a capture, with copies of their bytes.
struct ReadFrame {
  CapturedFrame frame;
  std::string kept;
};
struct ReadAll {
  std::vector<ReadFrame> frames;
  CaptureFacts facts;
  std::string failure;  // Of a file that could not be opened.
};
ReadAll ReadBytes(const std::string& file);

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_CAPTURE_FRAMES_H_
