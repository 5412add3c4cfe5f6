// Any system may refuse to capture; none may pretend.
#include <gtest/gtest.h>

#include "platform/packet_capture.h"

namespace wiretoll {
namespace {

// TEST-NET-1, RFC 5737: nobody's address.
TEST(PacketCaptureContractTest, AnAddressOfNoInterfaceIsRefused) {
  const auto opened = PacketCapture::Open({"192.0.2.1", "192.0.2.2", 0, 0, 96});
  EXPECT_FALSE(opened.has_value());
  EXPECT_TRUE(opened.error()) << "an error that says no error";
}

}  // namespace
}  // namespace wiretoll
