// One Send is one write(2), one Receive is one read(2). Linux counts a
// thread's read(2) and write(2) calls in /proc/thread-self/io (syscr, syscw);
// send(2) and recv(2) do not go through there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "platform/socket.h"
#include "tests/platform/connected_pair.h"

namespace wiretoll {
namespace {

struct Calls {
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  Calls operator-(const Calls& other) const {
    return {reads - other.reads, writes - other.writes};
  }
  bool operator==(const Calls&) const = default;
};

std::int64_t Field(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return -1;
  return std::strtoll(text.c_str() + at + name.size(), nullptr, 10);
}

// Costs one read(2) itself.
std::optional<Calls> CallsSoFar() {
  const int fd = ::open("/proc/thread-self/io", O_RDONLY);
  if (fd < 0) return std::nullopt;
  std::array<char, 512> text{};
  const ssize_t length = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  if (length <= 0) return std::nullopt;
  return Calls{Field(text.data(), "syscr: "), Field(text.data(), "syscw: ")};
}

// The calls that `action` made; without what looking costs.
template <class Action>
Calls CallsOf(Action action) {
  const Calls start = CallsSoFar().value();
  const Calls looked = CallsSoFar().value();
  action();
  const Calls end = CallsSoFar().value();
  return (end - looked) - (looked - start);
}

class OneCallTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CallsSoFar()) {
      GTEST_SKIP() << "/proc/thread-self/io: this kernel does not count calls; "
                      "one built with CONFIG_TASK_IO_ACCOUNTING does";
    }
  }

  SocketPair pair_ = ConnectedPair();
  std::array<std::byte, 100> buffer_{};
};

constexpr Calls kOneRead{1, 0};
constexpr Calls kOneWrite{0, 1};
constexpr Calls kNone{0, 0};

TEST_F(OneCallTest, CountersTellWriteFromSend) {
  const int fd = static_cast<int>(pair_.near.handle());
  EXPECT_EQ(CallsOf([&] { ::send(fd, buffer_.data(), 1, 0); }), kNone);
  EXPECT_EQ(CallsOf([&] { EXPECT_EQ(::write(fd, buffer_.data(), 1), 1); }),
            kOneWrite);
}

TEST_F(OneCallTest, SendIsOneWrite) {
  for (const std::size_t size : {1, 32, 100}) {
    const std::span<const std::byte> data{buffer_.data(), size};
    EXPECT_EQ(CallsOf([&] { EXPECT_TRUE(pair_.near.Send(data).has_value()); }),
              kOneWrite);
  }
}

TEST_F(OneCallTest, ReceiveIsOneReadAlsoWhenMoreIsThere) {
  ASSERT_EQ(pair_.near.Send(buffer_).value(), Bytes{100});
  const std::span<std::byte> room{buffer_.data(), 40};
  for (const std::int64_t expected : {40, 40, 20}) {
    EXPECT_EQ(CallsOf([&] {
                EXPECT_EQ(pair_.far.Receive(room).value(), Bytes{expected});
              }),
              kOneRead);
  }
}

TEST_F(OneCallTest, CallThatFailsIsNotTriedAgain) {
  pair_.near.Interrupt();
  // The first error of all makes a sanitizer probe memory, with a write(2).
  ASSERT_FALSE(pair_.near.Send(buffer_).has_value());
  EXPECT_EQ(
      CallsOf([&] { EXPECT_FALSE(pair_.near.Send(buffer_).has_value()); }),
      kOneWrite);
  EXPECT_EQ(CallsOf([&] {
              EXPECT_EQ(pair_.near.Receive(buffer_).value(), Bytes{0});
            }),
            kOneRead);
}

}  // namespace
}  // namespace wiretoll
