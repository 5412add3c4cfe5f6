#include "harness/capture/dissect.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/capture/frames.h"

namespace wiretoll {
namespace {

using testing::StrEq;

std::string PlainTcp() {
  TcpSpec spec;
  spec.sequence = 0xFFFFFFF0;
  spec.acknowledgment = 77;
  spec.flags = "AP";
  spec.payload = 10;
  return TcpSegment(spec);
}

TEST(Dissect, ATcpSegmentOverIpv4) {
  const Packet packet = DissectBytes(Ethernet(0x0800, Ipv4({}, PlainTcp())));
  EXPECT_EQ(packet.kind, PacketKind::kTcp);
  EXPECT_TRUE(packet.ethernet);
  EXPECT_FALSE(packet.loopback);
  EXPECT_EQ(packet.link_header_bytes, 14);
  EXPECT_EQ(AddressText(packet.source), "10.0.0.1");
  EXPECT_EQ(AddressText(packet.destination), "10.0.0.2");
  EXPECT_EQ(packet.source_port, 40000);
  EXPECT_EQ(packet.destination_port, 80);
  EXPECT_EQ(packet.ip_bytes, 50U);  // 20 + 20 + 10.
  EXPECT_EQ(packet.ip_header_bytes, 20U);
  EXPECT_EQ(packet.transport_header_bytes, 20U);
  EXPECT_EQ(packet.payload_bytes, 10U);
  EXPECT_EQ(packet.sequence, 0xFFFFFFF0U);
  EXPECT_EQ(packet.acknowledgment, 77U);
  EXPECT_EQ(packet.window, 1000);
  EXPECT_TRUE(packet.ack && packet.psh);
  EXPECT_FALSE(packet.syn || packet.fin || packet.rst || packet.fragment);
}

TEST(Dissect, PaddingOfAShortFrameIsNoPayload) {
  TcpSpec spec;
  spec.payload = 1;
  // 14 + 41 bytes, padded to the 60 that Ethernet has at least.
  const std::string frame = TcpFrame(spec) + std::string(5, '\0');
  EXPECT_EQ(frame.size(), 60U);
  const Packet packet = DissectBytes(frame);
  EXPECT_EQ(packet.payload_bytes, 1U);
  EXPECT_EQ(packet.ip_bytes, 41U);
}

TEST(Dissect, WhatASnapLengthCutOffIsCountedByTheHeaders) {
  TcpSpec spec;
  spec.payload = 1400;
  const std::string frame = TcpFrame(spec);
  CapturedFrame cut = FrameOf(frame);
  cut.kept = cut.kept.first(54);
  const Packet packet = Dissect(cut);
  EXPECT_EQ(packet.kind, PacketKind::kTcp);
  EXPECT_EQ(packet.payload_bytes, 1400U);
  EXPECT_FALSE(packet.options_cut);
}

TEST(Dissect, EveryTagIsTakenOff) {
  const std::string ip = Ipv4({}, PlainTcp());
  const auto tag = [](std::uint16_t type) { return Big(7, 2) + Big(type, 2); };
  const Packet one = DissectBytes(Ethernet(0x8100, tag(0x0800) + ip));
  EXPECT_EQ(one.kind, PacketKind::kTcp);
  EXPECT_EQ(one.vlan_tags, 1);
  EXPECT_EQ(one.link_header_bytes, 18);
  const Packet two =
      DissectBytes(Ethernet(0x88A8, tag(0x8100) + tag(0x0800) + ip));
  EXPECT_EQ(two.vlan_tags, 2);
  EXPECT_EQ(two.link_header_bytes, 22);
  EXPECT_EQ(two.payload_bytes, 10U);
}

TEST(Dissect, AFrameOfTagsAloneEnds) {
  std::string tags;
  for (int i = 0; i < 400; ++i) tags += Big(7, 2) + Big(0x8100, 2);
  const Packet packet = DissectBytes(Ethernet(0x8100, tags));
  EXPECT_EQ(packet.kind, PacketKind::kMalformed);
  EXPECT_THAT(packet.trouble, StrEq("VLAN tag"));
}

TEST(Dissect, Ipv4OptionsBelongToTheHeader) {
  Ipv4Spec ip;
  ip.options = "rroute12";
  const Packet packet = DissectBytes(Ethernet(0x0800, Ipv4(ip, PlainTcp())));
  EXPECT_EQ(packet.kind, PacketKind::kTcp);
  EXPECT_EQ(packet.ip_header_bytes, 28U);
  EXPECT_EQ(packet.payload_bytes, 10U);
}

TEST(Dissect, ALengthOfZeroIsTheFrames) {
  Ipv4Spec ip;
  ip.length = 0;
  const Packet packet = DissectBytes(Ethernet(0x0800, Ipv4(ip, PlainTcp())));
  EXPECT_EQ(packet.kind, PacketKind::kTcp);
  EXPECT_TRUE(packet.length_from_frame);
  EXPECT_EQ(packet.ip_bytes, 50U);
  EXPECT_EQ(packet.payload_bytes, 10U);
  const Packet v6 = DissectBytes(Ethernet(0x86DD, Ipv6(6, PlainTcp(), 0)));
  EXPECT_TRUE(v6.length_from_frame);
  EXPECT_EQ(v6.payload_bytes, 10U);
}

TEST(Dissect, Ipv6ExtensionHeadersAreWalked) {
  const auto extension = [](int next, int units) {
    return Big(static_cast<std::uint64_t>(next), 1) +
           Big(static_cast<std::uint64_t>(units), 1) +
           std::string(static_cast<std::size_t>(6 + 8 * units), '\0');
  };
  // Hop-by-hop of 8, routing of 24, destination of 8, authentication of 24.
  const std::string authentication =
      Big(6, 1) + Big(4, 1) + std::string(22, 'a');
  const std::string body = extension(43, 0) + extension(60, 2) +
                           extension(51, 0) + authentication + PlainTcp();
  const Packet packet = DissectBytes(Ethernet(0x86DD, Ipv6(0, body)));
  EXPECT_EQ(packet.kind, PacketKind::kTcp);
  EXPECT_EQ(packet.ip_header_bytes, 40U + 8 + 24 + 8 + 24);
  EXPECT_EQ(packet.ip_bytes, 104U + 30);
  EXPECT_EQ(packet.payload_bytes, 10U);
  EXPECT_EQ(AddressText(packet.source), "2001:db8::1");
}

TEST(Dissect, ExtensionHeadersWithoutEndAreNoLoop) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += Big(60, 1) + std::string(7, '\0');
  EXPECT_EQ(DissectBytes(Ethernet(0x86DD, Ipv6(60, body))).kind,
            PacketKind::kOtherIp);
}

TEST(Dissect, NoNextHeaderIsAPacketOfItsHeader) {
  const Packet packet = DissectBytes(Ethernet(0x86DD, Ipv6(59, "")));
  EXPECT_EQ(packet.kind, PacketKind::kOtherIp);
  EXPECT_EQ(packet.ip_bytes, 40U);
  EXPECT_FALSE(packet.length_from_frame);
}

TEST(Dissect, FragmentsAreFirstOrLater) {
  Ipv4Spec ip;
  ip.protocol = 17;
  ip.id = 321;
  ip.fragment = 0x2000;  // More follow.
  const std::string datagram = UdpDatagram(5000, 53, 3000);
  const Packet first =
      DissectBytes(Ethernet(0x0800, Ipv4(ip, datagram.substr(0, 1480))));
  EXPECT_EQ(first.kind, PacketKind::kUdp);
  EXPECT_TRUE(first.fragment);
  EXPECT_EQ(first.fragment_id, 321U);
  EXPECT_EQ(first.payload_bytes, 3000U);  // Of the whole datagram.
  ip.fragment = 185;                      // 1480 / 8; the last one.
  const Packet later =
      DissectBytes(Ethernet(0x0800, Ipv4(ip, datagram.substr(1480))));
  EXPECT_EQ(later.kind, PacketKind::kLaterFragment);
  EXPECT_EQ(later.fragment_id, 321U);
}

TEST(Dissect, Ipv6FragmentsToo) {
  const auto header = [](std::uint16_t place) {
    return Big(17, 1) + Big(0, 1) + Big(place, 2) + Big(0xABCDEF01, 4);
  };
  const Packet first = DissectBytes(
      Ethernet(0x86DD, Ipv6(44, header(1) + UdpDatagram(5000, 53, 8))));
  EXPECT_EQ(first.kind, PacketKind::kUdp);
  EXPECT_TRUE(first.fragment);
  EXPECT_EQ(first.fragment_id, 0xABCDEF01U);
  const Packet later =
      DissectBytes(Ethernet(0x86DD, Ipv6(44, header(16) + "12345678")));
  EXPECT_EQ(later.kind, PacketKind::kLaterFragment);
  // One that is all of the packet is whole (RFC 6946).
  const Packet atomic = DissectBytes(
      Ethernet(0x86DD, Ipv6(44, header(0) + UdpDatagram(5000, 53, 8))));
  EXPECT_EQ(atomic.kind, PacketKind::kUdp);
  EXPECT_FALSE(atomic.fragment);
}

TEST(Dissect, TcpOptionsOfASyn) {
  TcpSpec spec;
  spec.flags = "S";
  spec.options = SynOptions(1460, 7) + TimestampOption();
  const Packet packet = DissectBytes(TcpFrame(spec));
  EXPECT_EQ(packet.options.mss, 1460);
  EXPECT_EQ(packet.options.window_scale, 7);
  EXPECT_TRUE(packet.options.sack_permitted);
  EXPECT_TRUE(packet.options.timestamps);
  EXPECT_EQ(packet.options.timestamp, 1111U);
  EXPECT_EQ(packet.options.timestamp_echo, 2222U);
  EXPECT_FALSE(packet.options.broken);
  EXPECT_EQ(packet.transport_header_bytes, 20U + 12 + 12);
}

TEST(Dissect, SackBlocksAreEdgesByTurns) {
  TcpSpec spec;
  spec.options = Big(0x01010512, 4) + Big(100, 4) + Big(200, 4) + Big(300, 4) +
                 Big(400, 4);
  const Packet packet = DissectBytes(TcpFrame(spec));
  ASSERT_EQ(packet.options.sack_blocks, 2);
  EXPECT_EQ(packet.options.sack[0], 100U);
  EXPECT_EQ(packet.options.sack[3], 400U);
}

TEST(Dissect, AnOptionThatDoesNotFitEndsTheOptions) {
  for (const std::string& broken :
       {Big(0x02, 1) + Big(0, 1), Big(0x02, 1) + Big(1, 1),
        Big(0x08, 1) + Big(200, 1)}) {
    TcpSpec spec;
    spec.options = broken + Big(0, 2);
    spec.payload = 5;
    const Packet packet = DissectBytes(TcpFrame(spec));
    EXPECT_EQ(packet.kind, PacketKind::kTcp);
    EXPECT_TRUE(packet.options.broken);
    EXPECT_EQ(packet.payload_bytes, 5U);
  }
}

TEST(Dissect, OptionsThatWereCutAreNotCalledBroken) {
  TcpSpec spec;
  spec.flags = "S";
  spec.options = SynOptions(1460, 7);
  const std::string frame = TcpFrame(spec);
  CapturedFrame cut = FrameOf(frame);
  cut.kept = cut.kept.first(54 + 3);  // Inside the MSS.
  const Packet packet = Dissect(cut);
  EXPECT_EQ(packet.kind, PacketKind::kTcp);
  EXPECT_TRUE(packet.options_cut);
  EXPECT_FALSE(packet.options.broken);
  EXPECT_EQ(packet.options.mss, std::nullopt);
}

TEST(Dissect, EveryLinkTypeLeadsToTheSamePacket) {
  const std::string ip = Ipv4({}, PlainTcp());
  const std::string cooked = Big(4, 2) + Big(1, 2) + Big(6, 2) +
                             Big(0x020000000001, 8) + Big(0x0800, 2);
  const std::string cooked2 = Big(0x0800, 2) + Big(0, 2) + Big(2, 4) +
                              Big(1, 2) + Big(4, 1) + Big(6, 1) + Big(0, 8);
  const std::vector<std::pair<int, std::string>> frames = {
      {1, Ethernet(0x0800, ip)},
      {12, ip},
      {14, ip},
      {101, ip},
      {228, ip},
      {113, cooked + ip},
      {276, cooked2 + ip},
      {0, Little(2, 4) + ip},
      {0, Big(2, 4) + ip}};
  for (const auto& [link_type, frame] : frames) {
    const Packet packet =
        DissectBytes(frame, static_cast<std::uint16_t>(link_type));
    EXPECT_EQ(packet.kind, PacketKind::kTcp) << link_type;
    EXPECT_EQ(packet.payload_bytes, 10U) << link_type;
    EXPECT_EQ(packet.ethernet, link_type == 1);
  }
  const std::string v6 = Ipv6(6, PlainTcp());
  for (const int family : {10, 23, 24, 28, 30}) {
    EXPECT_EQ(
        DissectBytes(Little(static_cast<std::uint64_t>(family), 4) + v6, 0)
            .kind,
        PacketKind::kTcp);
  }
  EXPECT_EQ(DissectBytes(v6, 101).kind, PacketKind::kTcp);
  EXPECT_EQ(DissectBytes(v6, 229).kind, PacketKind::kTcp);
  EXPECT_EQ(DissectBytes(ip, 147).kind, PacketKind::kOtherLink);
}

TEST(Dissect, LoopbackIsEthernetOfNoAddress) {
  const std::string frame =
      std::string(12, '\0') + Big(0x0800, 2) + Ipv4({}, PlainTcp());
  EXPECT_TRUE(DissectBytes(frame).loopback);
}

TEST(Dissect, WhatIsNoIpIsSaidToBe) {
  EXPECT_EQ(DissectBytes(Ethernet(0x0806, std::string(28, 'a'))).kind,
            PacketKind::kNotIp);
  EXPECT_EQ(DissectBytes(Little(7, 4) + "appletalk", 0).kind,
            PacketKind::kNotIp);
  Ipv4Spec icmp;
  icmp.protocol = 1;
  const Packet packet =
      DissectBytes(Ethernet(0x0800, Ipv4(icmp, std::string(8, 'i'))));
  EXPECT_EQ(packet.kind, PacketKind::kOtherIp);
  EXPECT_EQ(packet.protocol, 1);
}

struct Broken {
  std::string frame;
  const char* trouble;
};

void ExpectMalformed(const std::vector<Broken>& all) {
  for (const Broken& broken : all) {
    const Packet packet = DissectBytes(broken.frame);
    EXPECT_EQ(packet.kind, PacketKind::kMalformed) << broken.trouble;
    EXPECT_THAT(packet.trouble, StrEq(broken.trouble));
  }
}

// An IPv4 packet of 50 bytes whose first byte is another.
std::string FirstByte(char first) {
  std::string packet = Ipv4({}, PlainTcp());
  packet[0] = first;
  return Ethernet(0x0800, packet);
}

TEST(Dissect, AnIpHeaderThatContradictsItselfIsMalformed) {
  Ipv4Spec short_length, long_length;
  short_length.length = 19;
  long_length.length = 2000;
  ExpectMalformed(
      {{Ethernet(0x0800, Ipv4(short_length, PlainTcp())), "IPv4 length"},
       {Ethernet(0x0800, Ipv4(long_length, PlainTcp())), "IPv4 length"},
       {FirstByte(0x4F), "IPv4 length"},  // 60 bytes of header.
       {FirstByte(0x41), "IPv4 length"},
       {FirstByte(0x65), "IP version"},
       {Ethernet(0x0800, "E"), "IPv4 header"},
       {Ethernet(0x86DD, Ipv6(6, PlainTcp(), 31)), "IPv6 length"},
       {Ethernet(0x86DD, Ipv6(60, Big(6, 1) + Big(9, 1) + Big(0, 6))),
        "IPv6 extension header"},
       {"short", "Ethernet header"}});
  EXPECT_EQ(DissectBytes("\x77xxx", 101).kind, PacketKind::kMalformed);
}

TEST(Dissect, ATransportHeaderThatContradictsItselfIsMalformed) {
  std::string tcp_short = PlainTcp(), tcp_long = PlainTcp();
  tcp_short[12] = 0x40;                    // 16 bytes.
  tcp_long[12] = static_cast<char>(0x90);  // 36 bytes, of 30.
  Ipv4Spec udp;
  udp.protocol = 17;
  std::string udp_short = UdpDatagram(1, 2, 4), udp_long = udp_short;
  udp_short[5] = 7;
  udp_long[5] = 13;
  ExpectMalformed(
      {{Ethernet(0x0800, Ipv4({}, tcp_short)), "TCP header's length"},
       {Ethernet(0x0800, Ipv4({}, tcp_long)), "TCP header's length"},
       {Ethernet(0x0800, Ipv4({}, PlainTcp().substr(0, 19))), "TCP header"},
       {Ethernet(0x0800, Ipv4(udp, udp_short)), "UDP length"},
       {Ethernet(0x0800, Ipv4(udp, udp_long)), "UDP length"},
       {Ethernet(0x0800, Ipv4(udp, "short")), "UDP header"}});
}

TEST(Dissect, ACutIsToldApartFromAMalformation) {
  const std::string frame = Ethernet(0x0800, Ipv4({}, PlainTcp()));
  // Up to byte 54 headers are missing; from there on all of them are there.
  for (std::size_t kept = 0; kept <= frame.size(); ++kept) {
    const std::string bytes = frame.substr(0, kept);
    CapturedFrame cut = FrameOf(bytes);
    cut.original_bytes = static_cast<std::int64_t>(frame.size());
    const Packet packet = Dissect(cut);
    EXPECT_EQ(packet.kind, kept < 54 ? PacketKind::kCut : PacketKind::kTcp)
        << kept;
  }
}

IpAddress V6(std::uint64_t high, std::uint64_t low) {
  IpAddress address;
  address.version = 6;
  const std::string bytes = Big(high, 8) + Big(low, 8);
  for (std::size_t i = 0; i < 16; ++i)
    address.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
  return address;
}

TEST(AddressText, IsOfTheOneSpellingOfRfc5952) {
  EXPECT_EQ(AddressText(V6(0x20010db800000000, 1)), "2001:db8::1");
  EXPECT_EQ(AddressText(V6(0, 0)), "::");
  EXPECT_EQ(AddressText(V6(0, 1)), "::1");
  EXPECT_EQ(AddressText(V6(0x0001000000000000, 0)), "1::");
  // A single group of zeros is written (4.2.2).
  EXPECT_EQ(AddressText(V6(0x20010db800000001, 0x0001000100010001)),
            "2001:db8:0:1:1:1:1:1");
  // Of two runs the longer is left out, of two equal ones the first (4.2.3).
  EXPECT_EQ(AddressText(V6(0x2001000000000001, 0x0000000000000001)),
            "2001:0:0:1::1");
  EXPECT_EQ(AddressText(V6(0x20010db800000000, 0x0001000000000001)),
            "2001:db8::1:0:0:1");
  EXPECT_EQ(AddressText(V6(0, 0x0000ffffc0000201)), "::ffff:192.0.2.1");
  EXPECT_EQ(AddressText(V6(0xfe80000000000000, 0x00000000abcdef01)),
            "fe80::abcd:ef01");
}

}  // namespace
}  // namespace wiretoll
