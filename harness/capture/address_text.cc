#include <fmt/format.h>

#include <algorithm>

#include "harness/capture/dissect.h"

namespace wiretoll {
namespace {

constexpr int kGroups = 8;

int GroupOf(const IpAddress& address, int index) {
  const std::size_t at = 2 * static_cast<std::size_t>(index);
  return address.bytes[at] << 8 | address.bytes[at + 1];
}

std::string DottedQuad(const std::uint8_t* bytes) {
  return fmt::format("{}.{}.{}.{}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

// ::ffff:0:0/96 (RFC 5952 5 has these written with a dotted quad).
bool HoldsIpv4(const IpAddress& address) {
  for (int i = 0; i < 5; ++i) {
    if (GroupOf(address, i) != 0) return false;
  }
  return GroupOf(address, 5) == 0xFFFF;
}

struct ZeroRun {
  int begin = kGroups, length = 0;
};

// The first of the longest (RFC 5952 4.2.3); a single group is none (4.2.2).
ZeroRun LongestZeros(const IpAddress& address) {
  ZeroRun longest, run;
  for (int i = 0; i < kGroups; ++i) {
    if (GroupOf(address, i) != 0) {
      run.length = 0;
      continue;
    }
    if (run.length == 0) run.begin = i;
    ++run.length;
    if (run.length > longest.length) longest = run;
  }
  return longest.length >= 2 ? longest : ZeroRun{};
}

}  // namespace

std::string AddressText(const IpAddress& address) {
  if (address.version == 4) return DottedQuad(address.bytes.data());
  if (HoldsIpv4(address)) return "::ffff:" + DottedQuad(&address.bytes[12]);
  const ZeroRun zeros = LongestZeros(address);
  std::string text;
  for (int i = 0; i < kGroups; ++i) {
    if (i == zeros.begin) {
      text += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    text += fmt::format("{:x}", GroupOf(address, i));
  }
  return text;
}

}  // namespace wiretoll
