// One frame as a flat record: what its headers say, down to TCP's options.
// Allocates nothing, and reads no byte that was not kept.
//
// Ethernet: IEEE 802.3; tags: 802.1Q, 802.1ad. IPv4: RFC 791. IPv6: RFC 8200.
// TCP: RFC 9293 3.1, RFC 7323 (window scale, timestamps), RFC 2018 (SACK).
// UDP: RFC 768.
#ifndef WIRETOLL_HARNESS_CAPTURE_DISSECT_H_
#define WIRETOLL_HARNESS_CAPTURE_DISSECT_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace wiretoll {

struct CapturedFrame;

// An IPv6 address, or an IPv4 one in the first four bytes and zeros behind.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};
  std::uint8_t version = 4;
  auto operator<=>(const IpAddress&) const = default;
};

// "10.0.0.1"; of IPv6 the one spelling of RFC 5952.
std::string AddressText(const IpAddress& address);

enum class PacketKind : std::uint8_t {
  kTcp,
  kUdp,
  kOtherIp,        // Another protocol: `protocol` says which.
  kLaterFragment,  // Of whatever protocol: it has no ports.
  kNotIp,          // ARP, LLDP, ...
  kOtherLink,      // Of a link type that we do not know.
  kCut,            // The bytes kept end inside a header; `trouble` says which.
  kMalformed,      // A header contradicts itself or the frame; likewise.
};

struct TcpOptions {
  std::optional<std::uint16_t> mss;
  std::optional<std::uint8_t> window_scale;  // As it stands there.
  bool sack_permitted = false;
  std::uint8_t sack_blocks = 0;  // Those whole; their edges are in `sack`.
  std::array<std::uint32_t, 8> sack{};  // Left and right, by turns.
  bool timestamps = false;
  std::uint32_t timestamp = 0, timestamp_echo = 0;
  bool broken = false;  // One that does not fit in; none behind it was read.
};

struct Packet {
  PacketKind kind = PacketKind::kNotIp;
  const char* trouble = "";  // Static text, of kCut and kMalformed.

  // The link. Header with tags, without preamble and check sequence.
  bool ethernet = false;
  bool loopback = false;  // Ethernet from and to no address: Linux's lo.
  std::uint8_t vlan_tags = 0;
  std::uint16_t link_header_bytes = 0;

  // IP, where `kind` is one of the first four.
  IpAddress source, destination;
  std::uint8_t protocol = 0;   // IANA's number; behind extension headers.
  std::uint32_t ip_bytes = 0;  // The packet, by its own length.
  std::uint32_t ip_header_bytes = 0;  // With options and extension headers.
  // The packet's own length was 0, as it is before an offload has cut the
  // packet, and in jumbograms (RFC 2675): it is the frame's.
  bool length_from_frame = false;
  bool fragment = false;  // First or later; `fragment_id` is theirs.
  std::uint32_t fragment_id = 0;

  // TCP and UDP. Payload in this packet: by IP's length, whatever was kept or
  // was padded. Of a first fragment of UDP: of the whole datagram.
  std::uint16_t source_port = 0, destination_port = 0;
  std::uint32_t transport_header_bytes = 0;
  std::uint32_t payload_bytes = 0;

  // TCP.
  std::uint32_t sequence = 0, acknowledgment = 0;
  std::uint16_t window = 0;  // As in the header: not scaled.
  bool fin = false, syn = false, rst = false, psh = false, ack = false;
  bool options_cut = false;  // Not all of them were kept.
  TcpOptions options;
};

// Link types 0, 1, 12, 14, 101, 113, 228, 229 and 276; see kSupportedLinks.
Packet Dissect(const CapturedFrame& frame);

inline constexpr char kSupportedLinks[] =
    "Ethernet (1), raw IP (12, 14, 101, 228, 229), Linux cooked (113, 276) and "
    "BSD loopback (0)";

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_DISSECT_H_
