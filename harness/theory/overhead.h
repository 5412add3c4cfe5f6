// What frames cost on the wire, from header formats alone.
#ifndef WIRETOLL_HARNESS_THEORY_OVERHEAD_H_
#define WIRETOLL_HARNESS_THEORY_OVERHEAD_H_

#include <cstdint>
#include <optional>

#include "harness/base/units.h"
#include "harness/study/study.h"

namespace wiretoll {

// Ethernet II header 14 and FCS 4: IEEE 802.3 3.2. Preamble with SFD 8 and
// inter-packet gap 12: IEEE 802.3 3.2.1, 4.4.2. VLAN tag 4: IEEE 802.1Q 9.3.
// Smallest MAC client data 46 (42 with a tag): IEEE 802.3 3.2.7.
inline constexpr Bytes kEthernetHeader{14};
inline constexpr Bytes kEthernetFcs{4};
inline constexpr Bytes kPreambleAndGap{20};
inline constexpr Bytes kVlanTag{4};
inline constexpr Bytes kMinimumFrame{64};  // Header, data, padding, FCS.
// IPv4 20: RFC 791 3.1. IPv6 40: RFC 8200 3. TCP 20: RFC 9293 3.1. UDP 8: RFC
// 768. Timestamps 12 = 10 + 2 padding: RFC 7323 appendix A.
inline constexpr Bytes kIpv4Header{20};
inline constexpr Bytes kIpv6Header{40};
inline constexpr Bytes kTcpHeader{20};
inline constexpr Bytes kUdpHeader{8};
inline constexpr Bytes kTcpTimestamps{12};

struct HeaderStack {
  int ip_version = 4;
  Transport transport = Transport::kTcp;
  bool timestamps = true;  // TCP only.
  bool vlan = false;
};

// One frame, counted at each layer. Requires payload >= 0.
struct FrameCost {
  Bytes payload;
  Bytes l4;  // With TCP or UDP header and options.
  Bytes l3;  // With the IP header.
  Bytes l2;  // With Ethernet header, padding, FCS.
  Bytes l1;  // With preamble and gap: what the line was busy for.
};

// IP and transport header of one segment or datagram.
Bytes NetworkHeaders(const HeaderStack& stack);
FrameCost CostOfFrame(Bytes payload, const HeaderStack& stack);
// Largest payload of one unfragmented segment or datagram. Requires room.
Bytes LargestPayload(Bytes mtu, const HeaderStack& stack);

// One UDP datagram and the fragments it takes: RFC 791 3.2 cuts at multiples
// of 8 bytes, RFC 8200 4.5 likewise with 8 bytes of header in each. Sums over
// the fragments; l4 counts the UDP header once.
struct DatagramCost {
  std::int64_t fragments = 1;
  FrameCost cost;
};
// The length fields end at 65,535: 65,507 bytes of payload over IPv4, 65,527
// over IPv6.
Bytes LargestDatagram(int ip_version);
// Empty above that. Requires an MTU with room for 8 bytes.
std::optional<DatagramCost> CostOfDatagram(Bytes payload, Bytes mtu,
                                           const HeaderStack& stack);

// payload / layer 1 bytes.
double Efficiency(const FrameCost& cost);

// Many segments of which only number and sum are known. Where padding could
// have happened, low and high bound what the line carried.
struct CountedCost {
  Bytes l3, l2_low, l2_high, l1_low, l1_high;
};
// Requires segments <= payload (each carries at least a byte) and
// payload <= segments * largest.
CountedCost CostOfCounted(std::int64_t segments, Bytes payload, Bytes largest,
                          const HeaderStack& stack);
// Frames without payload: pure ACKs.
CountedCost CostOfAcks(std::int64_t segments, const HeaderStack& stack);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_THEORY_OVERHEAD_H_
