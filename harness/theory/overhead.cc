#include "harness/theory/overhead.h"

#include <algorithm>

namespace wiretoll {
namespace {

constexpr Bytes kFragmentHeader{8};        // IPv6 only: RFC 8200 4.5.
constexpr std::int64_t kFragmentUnit = 8;  // RFC 791 3.1, RFC 8200 4.5.
constexpr Bytes kLargestIpLength{65535};

Bytes IpHeader(const HeaderStack& stack) {
  return stack.ip_version == 6 ? kIpv6Header : kIpv4Header;
}

// Ethernet header, tag and FCS.
Bytes LinkHeaders(const HeaderStack& stack) {
  const Bytes tag = stack.vlan ? kVlanTag : Bytes{0};
  return kEthernetHeader + kEthernetFcs + tag;
}

// Padding of a packet of `l3` bytes.
Bytes PaddingOf(Bytes l3, const HeaderStack& stack) {
  return std::max(Bytes{0}, kMinimumFrame - LinkHeaders(stack) - l3);
}

Bytes FrameOf(Bytes l3, const HeaderStack& stack) {
  return l3 + LinkHeaders(stack) + PaddingOf(l3, stack);
}

Bytes Times(std::int64_t count, Bytes each) { return {count * each.count}; }

// Padding is convex in the payload, so equal segments have the least of it:
// none, or what all of them together lack.
Bytes LeastPadding(std::int64_t segments, Bytes payload,
                   const HeaderStack& stack) {
  const Bytes room = kMinimumFrame - LinkHeaders(stack) - NetworkHeaders(stack);
  return std::max(Bytes{0}, Times(segments, room) - payload);
}

// And the most uneven segments have the most: full ones, one rest, single
// bytes.
Bytes MostPadding(std::int64_t segments, Bytes payload, Bytes largest,
                  const HeaderStack& stack) {
  const Bytes headers = NetworkHeaders(stack);
  const std::int64_t spare = payload.count - segments;
  const std::int64_t full =
      largest.count > 1 ? spare / (largest.count - 1) : segments;
  if (full >= segments) {
    return Times(segments, PaddingOf(headers + largest, stack));
  }
  const Bytes rest{1 + spare - full * (largest.count - 1)};
  return Times(full, PaddingOf(headers + largest, stack)) +
         PaddingOf(headers + rest, stack) +
         Times(segments - full - 1, PaddingOf(headers + Bytes{1}, stack));
}

CountedCost WithPadding(std::int64_t segments, Bytes l3, Bytes least,
                        Bytes most, const HeaderStack& stack) {
  const Bytes bare = l3 + Times(segments, LinkHeaders(stack));
  const Bytes silent = Times(segments, kPreambleAndGap);
  return {.l3 = l3,
          .l2_low = bare + least,
          .l2_high = bare + most,
          .l1_low = bare + least + silent,
          .l1_high = bare + most + silent};
}

}  // namespace

Bytes NetworkHeaders(const HeaderStack& stack) {
  if (stack.transport == Transport::kUdp) return IpHeader(stack) + kUdpHeader;
  const Bytes options = stack.timestamps ? kTcpTimestamps : Bytes{0};
  return IpHeader(stack) + kTcpHeader + options;
}

FrameCost CostOfFrame(Bytes payload, const HeaderStack& stack) {
  FrameCost cost;
  cost.payload = payload;
  cost.l3 = payload + NetworkHeaders(stack);
  cost.l4 = cost.l3 - IpHeader(stack);
  cost.l2 = FrameOf(cost.l3, stack);
  cost.l1 = cost.l2 + kPreambleAndGap;
  return cost;
}

Bytes LargestPayload(Bytes mtu, const HeaderStack& stack) {
  return mtu - NetworkHeaders(stack);
}

Bytes LargestDatagram(int ip_version) {
  // IPv4 counts its own header in the length field, IPv6 does not.
  const Bytes ip = ip_version == 6 ? Bytes{0} : kIpv4Header;
  return kLargestIpLength - ip - kUdpHeader;
}

std::optional<DatagramCost> CostOfDatagram(Bytes payload, Bytes mtu,
                                           const HeaderStack& stack) {
  if (payload > LargestDatagram(stack.ip_version)) return std::nullopt;
  if (payload <= LargestPayload(mtu, stack)) {
    return DatagramCost{1, CostOfFrame(payload, stack)};
  }
  const Bytes header =
      IpHeader(stack) + (stack.ip_version == 6 ? kFragmentHeader : Bytes{0});
  const std::int64_t whole =
      (mtu - header).count / kFragmentUnit * kFragmentUnit;
  DatagramCost datagram;
  datagram.cost.payload = payload;
  datagram.cost.l4 = payload + kUdpHeader;
  const std::int64_t full = (datagram.cost.l4.count - 1) / whole;
  const Bytes last{datagram.cost.l4.count - full * whole};
  datagram.fragments = full + 1;
  datagram.cost.l3 = datagram.cost.l4 + Times(datagram.fragments, header);
  datagram.cost.l2 = Times(full, FrameOf(header + Bytes{whole}, stack)) +
                     FrameOf(header + last, stack);
  datagram.cost.l1 =
      datagram.cost.l2 + Times(datagram.fragments, kPreambleAndGap);
  return datagram;
}

double Efficiency(const FrameCost& cost) {
  return static_cast<double>(cost.payload.count) /
         static_cast<double>(cost.l1.count);
}

CountedCost CostOfCounted(std::int64_t segments, Bytes payload, Bytes largest,
                          const HeaderStack& stack) {
  const Bytes l3 = payload + Times(segments, NetworkHeaders(stack));
  return WithPadding(segments, l3, LeastPadding(segments, payload, stack),
                     MostPadding(segments, payload, largest, stack), stack);
}

CountedCost CostOfAcks(std::int64_t segments, const HeaderStack& stack) {
  const Bytes headers = NetworkHeaders(stack);
  const Bytes padding = Times(segments, PaddingOf(headers, stack));
  return WithPadding(segments, Times(segments, headers), padding, padding,
                     stack);
}

}  // namespace wiretoll
