#include "tests/platform/lacks.h"

#include <array>
#include <string_view>

#include "platform/host_facts.h"

namespace wiretoll {
namespace {

struct Lack {
  std::string_view os;
  std::string_view test;
  std::string_view why;
};

constexpr const char* kNoCount =
    "lwIP keeps no count of a connection's bytes, nor a round trip finer than "
    "half a second; run it on Linux or Windows";
constexpr const char* kFixed =
    "lwIP's send buffer is fixed when it is built; run it on Linux or Windows";

// Beside these stand the tests that any stack may skip which says that it does
// not have what they are about: batches, strangers, segment counts.
constexpr std::array<Lack, 7> kLacks{{
    {"lwip", "DatagramContractTest.DeadPortIsAConnectionRefused",
     "lwIP tells no socket of an ICMP port unreachable; run it on Linux or "
     "Windows"},
    {"lwip", "DatagramContractTest.DontFragmentReadsBackAsSwitched",
     "lwIP has no switch for the DF bit; run it on Linux or Windows"},
    {"lwip",
     "OptionsContractTest.BuffersOfAnySizeAreTakenAndReadBackAsWhatTheyAre",
     kFixed},
    {"lwip", "OptionsContractTest.LargerBufferNeverReadsBackSmaller", kFixed},
    {"lwip", "TcpMomentContractTest.ConnectionThatStandsIsEstablished",
     kNoCount},
    {"lwip", "TcpMomentContractTest.WhatWasAcknowledgedIsNotInFlight",
     kNoCount},
    {"lwip", "TcpMomentContractTest.EndThatClosedSaysSo", kNoCount},
}};

}  // namespace

std::string WhyItCannot() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string name =
      std::string(test->test_suite_name()) + "." + test->name();
  const std::string os = IdentifyOs().os;
  for (const Lack& lack : kLacks) {
    if (lack.os == os && lack.test == name) return std::string(lack.why);
  }
  return {};
}

}  // namespace wiretoll
