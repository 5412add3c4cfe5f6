#include "harness/capture/dissect.h"

#include <algorithm>

#include "harness/capture/byte_order.h"
#include "harness/capture/capture_reader.h"

namespace wiretoll {
namespace {

constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kIpv6 = 0x86DD;
constexpr std::uint8_t kTcpProtocol = 6;
constexpr std::uint8_t kUdpProtocol = 17;
constexpr std::size_t kUdpHeader = 8;
constexpr std::size_t kLeastTcpHeader = 20;
constexpr std::size_t kLeastIpv4Header = 20;
constexpr std::size_t kIpv6Header = 40;
// More than any stack sends; each is 8 bytes or more.
constexpr int kMostExtensions = 16;

constexpr bool IsVlanTag(std::uint16_t type) {
  return type == 0x8100 || type == 0x88A8 || type == 0x9100;
}

// Walks down one frame's headers. A step that fails has said why.
class Dissector {
 public:
  explicit Dissector(const CapturedFrame& frame)
      : bytes_(frame.kept.data()),
        kept_(frame.kept.size()),
        end_(static_cast<std::size_t>(frame.original_bytes)) {}

  Packet Run(std::uint16_t link_type);

 private:
  const std::byte* here() const { return bytes_ + at_; }

  // Whether `bytes` more were kept. If not: cut off by the capture, or the
  // frame ends there by itself.
  bool Need(std::size_t bytes, const char* what) {
    if (at_ + bytes > end_) return Fail(PacketKind::kMalformed, what);
    if (at_ + bytes > kept_) return Fail(PacketKind::kCut, what);
    return true;
  }
  bool Fail(PacketKind kind, const char* what) {
    packet_.kind = kind;
    packet_.trouble = what;
    return false;
  }
  bool Stop(PacketKind kind) {
    packet_.kind = kind;
    return false;
  }

  // Each true: go on; false: `packet_.kind` is final.
  bool Link(std::uint16_t link_type, std::uint16_t& type);
  bool Ethernet(std::uint16_t& type);
  bool Tags(std::uint16_t& type);
  bool Cooked(std::size_t header, std::size_t type_at, std::uint16_t& type);
  bool NullLoopback(std::uint16_t& type);
  bool RawIp(std::uint16_t& type);
  bool Ip(std::uint16_t type);
  bool Ipv4();
  bool Ipv4Fragment();
  bool Ipv6();
  bool Extensions();
  bool Extension(std::size_t& length);
  bool Fragment(std::size_t offset, bool more);
  void TakeLength(std::size_t length, std::size_t start);
  void Transport();
  void Tcp();
  void Udp();
  void Options(std::size_t bytes);
  bool Option(const std::byte* option, std::size_t left, std::size_t& length);
  void SackBlocks(const std::byte* option, std::size_t length);

  const std::byte* bytes_;
  std::size_t kept_;
  std::size_t end_;     // Of the frame; once known, of the IP packet.
  std::size_t at_ = 0;  // The header at hand.
  std::size_t ip_at_ = 0;
  Packet packet_;
};

Packet Dissector::Run(std::uint16_t link_type) {
  std::uint16_t type = 0;
  if (!Link(link_type, type)) return packet_;
  packet_.link_header_bytes = static_cast<std::uint16_t>(at_);
  ip_at_ = at_;
  if (Ip(type)) Transport();
  return packet_;
}

bool Dissector::Link(std::uint16_t link_type, std::uint16_t& type) {
  switch (link_type) {
    case 0:
      return NullLoopback(type);
    case 1:
      return Ethernet(type);
    case 12:
    case 14:
    case 101:
      return RawIp(type);
    case 113:
      return Cooked(16, 14, type);
    case 228:
      type = kIpv4;
      return true;
    case 229:
      type = kIpv6;
      return true;
    case 276:
      return Cooked(20, 0, type);
    default:
      return Stop(PacketKind::kOtherLink);
  }
}

bool Dissector::Ethernet(std::uint16_t& type) {
  constexpr std::size_t kHeader = 14;
  packet_.ethernet = true;
  if (!Need(kHeader, "Ethernet header")) return false;
  packet_.loopback = std::all_of(
      bytes_, bytes_ + 12, [](std::byte byte) { return byte == std::byte{0}; });
  type = Big16(bytes_ + 12);
  at_ = kHeader;
  return Tags(type);
}

bool Dissector::Tags(std::uint16_t& type) {
  constexpr std::size_t kTag = 4;
  while (IsVlanTag(type)) {  // Each round goes on by four bytes.
    if (!Need(kTag, "VLAN tag")) return false;
    type = Big16(here() + 2);
    at_ += kTag;
    // Of a frame that is tags all through, 255 of them are told.
    if (packet_.vlan_tags < 255) ++packet_.vlan_tags;
  }
  return true;
}

bool Dissector::Cooked(std::size_t header, std::size_t type_at,
                       std::uint16_t& type) {
  if (!Need(header, "Linux cooked header")) return false;
  type = Big16(bytes_ + type_at);
  at_ = header;
  return Tags(type);
}

bool Dissector::NullLoopback(std::uint16_t& type) {
  constexpr std::size_t kHeader = 4;
  if (!Need(kHeader, "loopback header")) return false;
  // The family's number, in the byte order of the host that captured; that
  // of IPv6 differs from BSD to BSD, and on Linux and Windows.
  const std::uint32_t little = Little32(bytes_);
  const std::uint32_t family = little > 0xFFFF ? Big32(bytes_) : little;
  const bool v6 = family == 10 || family == 23 || family == 24 ||
                  family == 28 || family == 30;
  if (family != 2 && !v6) return Stop(PacketKind::kNotIp);
  type = v6 ? kIpv6 : kIpv4;
  at_ = kHeader;
  return true;
}

bool Dissector::RawIp(std::uint16_t& type) {
  if (!Need(1, "IP header")) return false;
  const int version = Byte(bytes_) >> 4;
  if (version != 4 && version != 6)
    return Fail(PacketKind::kMalformed, "IP version");
  type = version == 4 ? kIpv4 : kIpv6;
  return true;
}

bool Dissector::Ip(std::uint16_t type) {
  if (type == kIpv4) return Ipv4();
  if (type == kIpv6) return Ipv6();
  return Stop(PacketKind::kNotIp);
}

// The packet is `length` bytes from `start` on; 0: as long as the frame.
void Dissector::TakeLength(std::size_t length, std::size_t start) {
  packet_.length_from_frame = length == 0;
  const std::size_t end = length == 0 ? end_ : start + length;
  packet_.ip_bytes = static_cast<std::uint32_t>(end - ip_at_);
  end_ = end;
}

bool Dissector::Ipv4() {
  if (!Need(kLeastIpv4Header, "IPv4 header")) return false;
  const std::byte* header = here();
  if (Byte(header) >> 4 != 4) return Fail(PacketKind::kMalformed, "IP version");
  const std::size_t header_bytes = std::size_t{4} * (Byte(header) & 15);
  const std::size_t length = Big16(header + 2);
  if (header_bytes < kLeastIpv4Header ||
      (length != 0 && length < header_bytes) || at_ + length > end_) {
    return Fail(PacketKind::kMalformed, "IPv4 length");
  }
  TakeLength(length, at_);
  packet_.protocol = Byte(header + 9);
  packet_.source.version = packet_.destination.version = 4;
  for (std::size_t i = 0; i < 4; ++i) {
    packet_.source.bytes[i] = Byte(header + 12 + i);
    packet_.destination.bytes[i] = Byte(header + 16 + i);
  }
  // Options tell us nothing, so they may have been cut off.
  if (at_ + header_bytes > end_)
    return Fail(PacketKind::kMalformed, "IPv4 options");
  packet_.ip_header_bytes = static_cast<std::uint32_t>(header_bytes);
  const std::uint16_t fragment = Big16(header + 6);
  packet_.fragment_id = Big16(header + 4);
  at_ += header_bytes;
  return Fragment(std::size_t{8} * (fragment & 0x1FFF),
                  (fragment & 0x2000) != 0);
}

bool Dissector::Fragment(std::size_t offset, bool more) {
  packet_.fragment = more || offset > 0;
  return offset == 0 || Stop(PacketKind::kLaterFragment);
}

bool Dissector::Ipv6() {
  if (!Need(kIpv6Header, "IPv6 header")) return false;
  const std::byte* header = here();
  if (Byte(header) >> 4 != 6) return Fail(PacketKind::kMalformed, "IP version");
  const std::size_t length = Big16(header + 4);
  if (at_ + kIpv6Header + length > end_)
    return Fail(PacketKind::kMalformed, "IPv6 length");
  packet_.protocol = Byte(header + 6);
  packet_.source.version = packet_.destination.version = 6;
  for (std::size_t i = 0; i < 16; ++i) {
    packet_.source.bytes[i] = Byte(header + 8 + i);
    packet_.destination.bytes[i] = Byte(header + 24 + i);
  }
  at_ += kIpv6Header;
  // A packet that says 0 and has no next header is one of 40 bytes.
  constexpr std::uint8_t kNoNextHeader = 59;
  if (length == 0 && packet_.protocol == kNoNextHeader) {
    packet_.ip_bytes = kIpv6Header;
    end_ = at_;
  } else {
    TakeLength(length, at_);
  }
  return Extensions();
}

// RFC 8200 4; the loop ends at the first header that is none of these.
bool Dissector::Extensions() {
  bool go_on = true;
  for (int i = 0; go_on && i < kMostExtensions; ++i) {
    std::size_t length = 0;
    go_on = Extension(length);
    if (length == 0) break;
    at_ += length;
  }
  packet_.ip_header_bytes = static_cast<std::uint32_t>(at_ - ip_at_);
  return go_on;
}

// One extension header; `length` 0: it is none, or could not be read.
bool Dissector::Extension(std::size_t& length) {
  enum : std::uint8_t {
    kHopByHop = 0,
    kRouting = 43,
    kFragment = 44,
    kAuthentication = 51,
    kDestination = 60,
  };
  const std::uint8_t kind = packet_.protocol;
  const bool known = kind == kHopByHop || kind == kRouting ||
                     kind == kFragment || kind == kAuthentication ||
                     kind == kDestination;
  if (!known) return true;
  constexpr std::size_t kLeast = 8;
  if (!Need(kLeast, "IPv6 extension header")) return false;
  const std::byte* header = here();
  packet_.protocol = Byte(header);
  const std::size_t units = Byte(header + 1);
  length = kind == kFragment         ? kLeast
           : kind == kAuthentication ? 4 * (units + 2)
                                     : 8 * (units + 1);
  if (at_ + length > end_) {
    length = 0;
    return Fail(PacketKind::kMalformed, "IPv6 extension header");
  }
  if (kind != kFragment) return true;
  const std::uint16_t place = Big16(header + 2);
  packet_.fragment_id = Big32(header + 4);
  return Fragment(place & 0xFFF8, (place & 1) != 0);
}

void Dissector::Transport() {
  if (packet_.protocol == kTcpProtocol) return Tcp();
  if (packet_.protocol == kUdpProtocol) return Udp();
  packet_.kind = PacketKind::kOtherIp;
}

void Dissector::Tcp() {
  if (!Need(kLeastTcpHeader, "TCP header")) return;
  const std::byte* header = here();
  const std::size_t header_bytes = std::size_t{4} * (Byte(header + 12) >> 4);
  if (header_bytes < kLeastTcpHeader || at_ + header_bytes > end_) {
    Fail(PacketKind::kMalformed, "TCP header's length");
    return;
  }
  packet_.kind = PacketKind::kTcp;
  packet_.source_port = Big16(header);
  packet_.destination_port = Big16(header + 2);
  packet_.sequence = Big32(header + 4);
  packet_.acknowledgment = Big32(header + 8);
  const std::uint8_t flags = Byte(header + 13);
  packet_.fin = (flags & 1) != 0;
  packet_.syn = (flags & 2) != 0;
  packet_.rst = (flags & 4) != 0;
  packet_.psh = (flags & 8) != 0;
  packet_.ack = (flags & 16) != 0;
  packet_.window = Big16(header + 14);
  packet_.transport_header_bytes = static_cast<std::uint32_t>(header_bytes);
  packet_.payload_bytes = static_cast<std::uint32_t>(end_ - at_ - header_bytes);
  Options(header_bytes);
}

void Dissector::Options(std::size_t header_bytes) {
  std::size_t at = at_ + kLeastTcpHeader;
  const std::size_t end = std::min(at_ + header_bytes, kept_);
  while (at < end) {  // Each round goes on by a byte or more.
    std::size_t length = 0;
    if (!Option(bytes_ + at, end - at, length)) break;
    at += length;
  }
  packet_.options_cut = at_ + header_bytes > kept_;
  // What looks broken may be the cut.
  if (packet_.options_cut) packet_.options.broken = false;
}

// One option, at most `left` bytes long. False: it was the last.
bool Dissector::Option(const std::byte* option, std::size_t left,
                       std::size_t& length) {
  enum : std::uint8_t {
    kEnd,
    kNothing,
    kMss,
    kWindowScale,
    kSackPermitted,
    kSack,
    kTimestamps = 8
  };
  const std::uint8_t kind = Byte(option);
  length = 1;
  if (kind == kEnd || kind == kNothing) return kind == kNothing;
  length = left > 1 ? Byte(option + 1) : 0;
  TcpOptions& options = packet_.options;
  options.broken = length < 2 || length > left;
  if (options.broken) return false;
  if (kind == kMss && length == 4) options.mss = Big16(option + 2);
  if (kind == kWindowScale && length == 3)
    options.window_scale = Byte(option + 2);
  if (kind == kSackPermitted) options.sack_permitted = true;
  if (kind == kSack) SackBlocks(option, length);
  if (kind == kTimestamps && length == 10) {
    options.timestamps = true;
    options.timestamp = Big32(option + 2);
    options.timestamp_echo = Big32(option + 6);
  }
  return true;
}

void Dissector::SackBlocks(const std::byte* option, std::size_t length) {
  // Four are the most that 40 bytes of options hold.
  const std::size_t blocks = std::min<std::size_t>((length - 2) / 8, 4);
  packet_.options.sack_blocks = static_cast<std::uint8_t>(blocks);
  for (std::size_t edge = 0; edge < 2 * blocks; ++edge)
    packet_.options.sack[edge] = Big32(option + 2 + 4 * edge);
}

void Dissector::Udp() {
  if (!Need(kUdpHeader, "UDP header")) return;
  const std::byte* header = here();
  const std::size_t room = end_ - at_;
  // 0: before an offload has cut the datagram, or a jumbogram.
  const std::size_t said = Big16(header + 4);
  const std::size_t length = said == 0 ? room : said;
  if (length < kUdpHeader || (length > room && !packet_.fragment)) {
    Fail(PacketKind::kMalformed, "UDP length");
    return;
  }
  packet_.kind = PacketKind::kUdp;
  packet_.source_port = Big16(header);
  packet_.destination_port = Big16(header + 2);
  packet_.transport_header_bytes = kUdpHeader;
  packet_.payload_bytes = static_cast<std::uint32_t>(length - kUdpHeader);
}

}  // namespace

Packet Dissect(const CapturedFrame& frame) {
  return Dissector(frame).Run(frame.link_type);
}

}  // namespace wiretoll
