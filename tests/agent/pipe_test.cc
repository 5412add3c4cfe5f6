// Both pipes of a prepared process carry bytes as they are.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "tests/agent/child_process.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

std::string EchoProgram() {
  const char* moved = std::getenv("WIRETOLL_ECHO");
  return moved == nullptr ? ECHO : moved;
}

// Every byte but the newline that ends a line, in order.
std::string EveryByte() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) {
    if (byte != '\n') bytes += static_cast<char>(byte);
  }
  return bytes;
}

TEST(PipeTest, EveryBytePassesBothWays) {
  ChildProcess echo(EchoProgram());
  echo.Write(EveryByte() + "\n");
  EXPECT_EQ(echo.ReadLine(), EveryByte());
}

TEST(PipeTest, CarriageReturnsStayAndNoneIsAdded) {
  ChildProcess echo(EchoProgram());
  echo.Write("a\r\nb\n\r\r\n");
  EXPECT_EQ(echo.ReadLine(), "a\r");
  EXPECT_EQ(echo.ReadLine(), "b");
  EXPECT_EQ(echo.ReadLine(), "\r\r");
}

TEST(PipeTest, ByteTwentySixAndNulEndNothing) {
  using namespace std::string_literals;
  ChildProcess echo(EchoProgram());
  const std::string line = "before\x1a\0after"s;
  echo.Write(line + "\n");
  EXPECT_EQ(echo.ReadLine(), line);
}

TEST(PipeTest, TheProgramEndsWithItsInput) {
  ChildProcess echo(EchoProgram());
  EXPECT_FALSE(echo.WaitForEnd(0ms));
  echo.CloseInput();
  EXPECT_EQ(echo.WaitForEnd(10s), 0);
  EXPECT_FALSE(echo.ReadLine());
}

}  // namespace
}  // namespace wiretoll
