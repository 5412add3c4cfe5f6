#include "tests/capture/frames.h"

#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

namespace wiretoll {
namespace {

std::string Number(std::uint64_t value, int bytes, bool big) {
  return big ? Big(value, bytes) : Little(value, bytes);
}

std::string Padded(std::string bytes) {
  bytes.append((4 - bytes.size() % 4) % 4, '\0');
  return bytes;
}

// The i-th from the lowest; 0 beyond the eighth.
char ByteOf(std::uint64_t value, int i) {
  return i < 8 ? static_cast<char>((value >> (8 * i)) & 0xFF) : '\0';
}

std::string Ipv6Address(int last) {
  return Big(0x20010db800000000, 8) + Big(static_cast<std::uint64_t>(last), 8);
}

}  // namespace

std::string Big(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += ByteOf(value, i);
  return text;
}

std::string Little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += ByteOf(value, i);
  return text;
}

std::string TcpSegment(const TcpSpec& spec) {
  const std::string options = Padded(spec.options);
  // From the lowest bit on.
  constexpr std::string_view kFlags = "FSRPA";
  unsigned flags = 0;
  for (const char flag : spec.flags) flags |= 1U << kFlags.find(flag);
  const std::uint16_t from =
      spec.from_client ? spec.client_port : spec.server_port;
  const std::uint16_t to =
      spec.from_client ? spec.server_port : spec.client_port;
  const std::size_t words = (20 + options.size()) / 4;
  return Big(from, 2) + Big(to, 2) + Big(spec.sequence, 4) +
         Big(spec.acknowledgment, 4) + Big(words << 4, 1) + Big(flags, 1) +
         Big(spec.window, 2) + Big(0, 4) + options +
         std::string(spec.payload, 'x');
}

std::string UdpDatagram(std::uint16_t from, std::uint16_t to,
                        std::size_t payload) {
  return Big(from, 2) + Big(to, 2) + Big(8 + payload, 2) + Big(0, 2) +
         std::string(payload, 'u');
}

std::string Ipv4(const Ipv4Spec& spec, const std::string& body) {
  const std::string options = Padded(spec.options);
  const std::size_t header = 20 + options.size();
  const std::uint64_t length = spec.length < 0
                                   ? header + body.size()
                                   : static_cast<std::uint64_t>(spec.length);
  const std::uint64_t client = 0x0A000001, server = 0x0A000002;
  return Big(0x40 + header / 4, 1) + Big(0, 1) + Big(length, 2) +
         Big(spec.id, 2) + Big(spec.fragment, 2) + Big(64, 1) +
         Big(spec.protocol, 1) + Big(0, 2) +
         Big(spec.from_client ? client : server, 4) +
         Big(spec.from_client ? server : client, 4) + options + body;
}

std::string Ipv6(std::uint8_t next_header, const std::string& body,
                 int length) {
  const std::uint64_t said =
      length < 0 ? body.size() : static_cast<std::uint64_t>(length);
  return Big(0x60000000, 4) + Big(said, 2) + Big(next_header, 1) + Big(64, 1) +
         Ipv6Address(1) + Ipv6Address(2) + body;
}

std::string Ethernet(std::uint16_t type, const std::string& body) {
  return Big(0x020000000002, 6) + Big(0x020000000001, 6) + Big(type, 2) + body;
}

std::string TcpFrame(const TcpSpec& spec) {
  Ipv4Spec ip;
  ip.from_client = spec.from_client;
  return Ethernet(0x0800, Ipv4(ip, TcpSegment(spec)));
}

std::string SynOptions(std::uint16_t mss, std::uint8_t scale) {
  return Big(0x0204, 2) + Big(mss, 2) + Big(0x0402, 2) + Big(0x0303, 2) +
         Big(scale, 1) + Big(1, 1);
}

std::string TimestampOption() {
  return Big(0x0101080A, 4) + Big(1111, 4) + Big(2222, 4);
}

CapturedFrame FrameOf(const std::string& bytes, std::uint16_t link_type,
                      std::int64_t time_ns) {
  CapturedFrame frame;
  frame.number = 1;
  frame.time_ns = time_ns;
  frame.kept = std::as_bytes(std::span(bytes));
  frame.original_bytes = static_cast<std::int64_t>(bytes.size());
  frame.link_type = link_type;
  return frame;
}

Packet DissectBytes(const std::string& bytes, std::uint16_t link_type) {
  return Dissect(FrameOf(bytes, link_type));
}

std::string PcapHead(std::uint32_t link_type, bool big, bool nanoseconds) {
  return Number(nanoseconds ? 0xA1B23C4D : 0xA1B2C3D4, 4, big) +
         Number(2, 2, big) + Number(4, 2, big) + Number(0, 8, big) +
         Number(65535, 4, big) + Number(link_type, 4, big);
}

std::string PcapRecord(std::uint32_t seconds, std::uint32_t part,
                       const std::string& frame, bool big,
                       std::uint32_t original) {
  return Number(seconds, 4, big) + Number(part, 4, big) +
         Number(frame.size(), 4, big) +
         Number(original == 0 ? frame.size() : original, 4, big) + frame;
}

std::string Block(std::uint32_t type, const std::string& body, bool big) {
  const std::string padded = Padded(body);
  const std::string length = Number(12 + padded.size(), 4, big);
  return Number(type, 4, big) + length + padded + length;
}

std::string Option(std::uint16_t code, const std::string& value, bool big) {
  return Number(code, 2, big) + Number(value.size(), 2, big) + Padded(value);
}

std::string SectionBlock(bool big) {
  return Block(0x0A0D0D0A,
               Number(0x1A2B3C4D, 4, big) + Number(1, 2, big) +
                   Number(0, 2, big) + Number(~std::uint64_t{0}, 8, big),
               big);
}

std::string InterfaceBlock(std::uint16_t link_type, const std::string& options,
                           bool big) {
  return Block(1,
               Number(link_type, 2, big) + Number(0, 2, big) +
                   Number(96, 4, big) + options,
               big);
}

std::string PacketBlock(std::uint32_t interface, std::uint64_t units,
                        const std::string& frame, bool big) {
  return Block(6,
               Number(interface, 4, big) + Number(units >> 32, 4, big) +
                   Number(units & 0xFFFFFFFF, 4, big) +
                   Number(frame.size(), 4, big) + Number(frame.size(), 4, big) +
                   frame,
               big);
}

ReadAll ReadBytes(const std::string& file) {
  ReadAll all;
  auto reader = CaptureReader::Read(std::make_unique<std::istringstream>(file),
                                    "test.pcapng");
  if (!reader.has_value()) {
    all.failure = reader.error().message;
    return all;
  }
  CapturedFrame frame;
  while (reader.value().Next(frame)) {
    std::string kept(reinterpret_cast<const char*>(frame.kept.data()),
                     frame.kept.size());
    all.frames.push_back({frame, std::move(kept)});
  }
  all.facts = reader.value().facts();
  return all;
}

}  // namespace wiretoll
