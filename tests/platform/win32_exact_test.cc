// What Windows does exactly, and Wine after it, where the contract leaves it
// to the system.
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <memory>
#include <thread>

#include "platform/cpu_time.h"
#include "platform/host_facts.h"
#include "platform/lone_thread.h"
#include "platform/options.h"
#include "platform/process.h"
#include "platform/terminal.h"
// windows.h makes nothing of the words "near" and "far".
// clang-format off
#include "tests/platform/connected_pair.h"
#include "platform/win32/native.h"
#undef near
#undef far
// clang-format on

namespace wiretoll {
namespace {

namespace errc = boost::system::errc;

using std::chrono::milliseconds;

constexpr std::size_t kTwoGibibytes = std::size_t{1} << 31;

std::int64_t ReadBack(SocketOption option, std::int64_t wanted) {
  const Socket socket = OpenTcp(kLoopback, {}).value();
  EXPECT_TRUE(SetOption(socket, option, wanted).has_value());
  return GetOption(socket, option).value();
}

DWORD HandleFlags(const Socket& socket) {
  DWORD flags = ~DWORD{0};
  EXPECT_NE(::GetHandleInformation(
                reinterpret_cast<HANDLE>(Native(socket.handle())), &flags),
            0);
  return flags;
}

struct Unmap {
  void operator()(std::byte* pages) const {
    ::VirtualFree(pages, 0, MEM_RELEASE);
  }
};

// Pages that take no memory until they are written to.
std::unique_ptr<std::byte, Unmap> ZeroPages(std::size_t size) {
  return std::unique_ptr<std::byte, Unmap>(static_cast<std::byte*>(
      ::VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE)));
}

struct WinsockError {
  DWORD number;
  errc::errc_t condition;
};

class WinsockErrorTest : public testing::TestWithParam<WinsockError> {};

TEST_P(WinsockErrorTest, IsThePortableConditionThatTheHarnessComparesWith) {
  EXPECT_EQ(ErrorFrom(GetParam().number), GetParam().condition);
}

INSTANTIATE_TEST_SUITE_P(
    MetInTrials, WinsockErrorTest,
    testing::Values(WinsockError{10'013, errc::permission_denied},
                    WinsockError{10'035, errc::operation_would_block},
                    WinsockError{10'048, errc::address_in_use},
                    WinsockError{10'049, errc::address_not_available},
                    WinsockError{10'053, errc::connection_aborted},
                    WinsockError{10'054, errc::connection_reset},
                    WinsockError{10'055, errc::no_buffer_space},
                    WinsockError{10'060, errc::timed_out},
                    WinsockError{10'061, errc::connection_refused},
                    WinsockError{10'065, errc::host_unreachable}),
    [](const auto& info) { return std::to_string(info.param.number); });

TEST(Win32ExactTest, LengthsAreClampedToWhatAnIntHolds) {
  EXPECT_EQ(WinsockLength(0), 0);
  EXPECT_EQ(WinsockLength(1448), 1448);
  EXPECT_EQ(WinsockLength(kTwoGibibytes - 1), 2'147'483'647);
  EXPECT_EQ(WinsockLength(kTwoGibibytes), 2'147'483'647);
  EXPECT_EQ(WinsockLength(2 * kTwoGibibytes + 5), 2'147'483'647);
}

// Cut to 32 bits instead, 2^32 + 5 would be 5, and -1 an error.
TEST(Win32ExactTest, SendOfMoreThanAnIntSendsAsMuchAsThereIsRoomFor) {
  auto [near, far] = ConnectedPair();
  const auto zeros = ZeroPages(kTwoGibibytes);  // No more is to be read of it.
  ASSERT_NE(zeros, nullptr);
  const std::span<const std::byte> huge{zeros.get(), 2 * kTwoGibibytes + 5};
  auto sending = std::async(std::launch::async,
                            [&near = near, huge] { return near.Send(huge); });
  std::vector<std::byte> room(1 << 16);
  std::int64_t received = 0;
  while (received < (1 << 20)) {
    const Result<Bytes> got = far.Receive(room);
    ASSERT_TRUE(got.has_value()) << got.error().message();
    ASSERT_GT(got.value(), Bytes{0}) << "after " << received << " bytes";
    received += got.value().count;
  }
  // It would go on to 2147483647 bytes. Wine's cannot be cancelled while it
  // moves on to its next part: again, as a trial does.
  const SteadyTime deadline = std::chrono::steady_clock::now() + kPatience;
  do {
    near.Interrupt();
  } while (sending.wait_for(milliseconds{10}) != std::future_status::ready &&
           std::chrono::steady_clock::now() < deadline);
  const Result<Bytes> sent = sending.get();
  EXPECT_TRUE(!sent.has_value() || sent.value() >= Bytes{received});
}

TEST(Win32ExactTest, BuffersReadBackAsSet) {
  for (const SocketOption buffer :
       {SocketOption::kRcvbuf, SocketOption::kSndbuf}) {
    for (const std::int64_t wanted : {4'096, 20'000, 65'536}) {
      EXPECT_EQ(ReadBack(buffer, wanted), wanted);
    }
  }
}

TEST(Win32ExactTest, NagleIsNodelayNegated) {
  const SocketPair pair = ConnectedPair();
  for (const int wanted : {1, 0}) {
    ASSERT_TRUE(SetOption(pair.near, SocketOption::kNagle, wanted).has_value());
    DWORD nodelay = 0;
    int length = sizeof nodelay;
    ASSERT_EQ(::getsockopt(Native(pair.near.handle()), IPPROTO_TCP, TCP_NODELAY,
                           reinterpret_cast<char*>(&nodelay), &length),
              0);
    EXPECT_EQ(nodelay, static_cast<DWORD>(1 - wanted));
  }
}

TEST(Win32ExactTest, CorkIsNotToBeHadAndQuickackIsNotToBeRead) {
  const SocketPair pair = ConnectedPair();
  EXPECT_EQ(SetOption(pair.near, SocketOption::kCork, 1).error(),
            errc::operation_not_supported);
  EXPECT_EQ(GetOption(pair.near, SocketOption::kCork).error(),
            errc::operation_not_supported);
  EXPECT_EQ(GetOption(pair.near, SocketOption::kQuickack).error(),
            errc::operation_not_supported);
}

TEST(Win32ExactTest, QuickackIsTakenWhereTheSystemHasIt) {
  const SocketPair pair = ConnectedPair();
  const Result<Done> set = SetOption(pair.near, SocketOption::kQuickack, 1);
  if (IdentifyOs().os == "wine") {
    EXPECT_EQ(set.error(), errc::operation_not_supported);
  } else {
    EXPECT_TRUE(set.has_value()) << set.error().message();
  }
}

TEST(Win32ExactTest, CongestionControlHasANumberForAName) {
  const SocketPair pair = ConnectedPair();
  for (const char* name : {"cubic", "algorithm-", "algorithm-x", "algorithm-5x",
                           "algorithm--1", "algorithm-4294967296"}) {
    EXPECT_EQ(SetCongestion(pair.near, name).error(),
              errc::operation_not_supported)
        << name;
  }
}

TEST(Win32ExactTest, OthersCannotTakeOurPortEvenIfTheyAskFor) {
  const Socket held = ListeningSocket();
  const SOCKET thief = ::socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
  ASSERT_NE(thief, INVALID_SOCKET);
  const Socket closes{static_cast<Socket::Handle>(thief)};
  const BOOL on = TRUE;
  ASSERT_EQ(::setsockopt(thief, SOL_SOCKET, SO_REUSEADDR,
                         reinterpret_cast<const char*>(&on), sizeof on),
            0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = ::htons(held.LocalEndpoint().value().port);
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  EXPECT_NE(::bind(thief, reinterpret_cast<const sockaddr*>(&address),
                   sizeof address),
            0);
  EXPECT_EQ(LastError(), errc::permission_denied);
}

TEST(Win32ExactTest, NoSocketIsForChildren) {
  Socket listening = ListeningSocket();
  Socket near = OpenTcp(kLoopback, {}).value();
  ASSERT_TRUE(
      near.Connect(listening.LocalEndpoint().value(), kPatience).has_value());
  const AcceptedSocket accepted = listening.Accept(kPatience).value();
  for (const Socket* socket : std::initializer_list<const Socket*>{
           &listening, &near, &accepted.socket}) {
    EXPECT_EQ(HandleFlags(*socket) & HANDLE_FLAG_INHERIT, 0U);
  }
}

TEST(Win32ExactTest, KeepFromChildrenTakesAHandleFromThem) {
  const SocketPair pair = ConnectedPair();
  const SOCKET native = Native(pair.near.handle());
  ASSERT_NE(::SetHandleInformation(reinterpret_cast<HANDLE>(native),
                                   HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT),
            0);
  ASSERT_NE(HandleFlags(pair.near) & HANDLE_FLAG_INHERIT, 0U);
  KeepFromChildren(static_cast<std::intptr_t>(native));
  EXPECT_EQ(HandleFlags(pair.near) & HANDLE_FLAG_INHERIT, 0U);
}

// The listener does not block, and on Windows what it accepts inherits that.
TEST(Win32ExactTest, ConnectedAndAcceptedSocketsBlock) {
  auto [near, far] = ConnectedPair();
  std::array<std::byte, 1> sent{};
  for (const auto& [from, to] : {std::pair{&near, &far}, {&far, &near}}) {
    auto receiving = std::async(std::launch::async, [to = to] {
      std::array<std::byte, 1> room{};
      return to->Receive(room);
    });
    std::this_thread::sleep_for(milliseconds{30});
    ASSERT_TRUE(from->Send(sent).has_value());
    const Result<Bytes> received = receiving.get();
    ASSERT_TRUE(received.has_value()) << received.error().message();
    EXPECT_EQ(received.value(), Bytes{1});
  }
}

// A listener with room for one: Linux, under Wine, drops the SYN that comes
// when it is full, so that whoever sent it waits. Windows refuses it.
TEST(Win32ExactTest, InterruptEndsAConnectThatWaits) {
  if (IdentifyOs().os != "wine") {
    GTEST_SKIP() << "a full listener lets nobody wait on Windows: run it under "
                    "Wine, ./dev windows -R Interrupt";
  }
  const Socket full = OpenTcp(kLoopback, {}).value();
  ASSERT_EQ(::listen(Native(full.handle()), 0), 0);
  const Endpoint there = full.LocalEndpoint().value();
  std::vector<Socket> waiting;
  Error error;
  for (int i = 0; i < 8 && !error; ++i) {
    waiting.push_back(OpenTcp(kLoopback, {}).value());
    error = waiting.back().Connect(there, milliseconds{100}).error();
  }
  ASSERT_EQ(error, errc::timed_out) << error.message();

  Socket last = OpenTcp(kLoopback, {}).value();
  auto connecting = std::async(std::launch::async, [&last, &there] {
    return last.Connect(there, kPatience).error();
  });
  std::this_thread::sleep_for(milliseconds{50});
  last.Interrupt();
  error = connecting.get();
  EXPECT_NE(error, Error{});
  EXPECT_NE(error, errc::timed_out);
}

TEST(Win32ExactTest, EveryCallOnABadHandleSaysSo) {
  Socket bad{static_cast<Socket::Handle>(1 << 30)};
  std::array<std::byte, 1> buffer{};
  EXPECT_EQ(bad.Send(buffer).error(), errc::not_a_socket);
  EXPECT_EQ(bad.Receive(buffer).error(), errc::not_a_socket);
  EXPECT_EQ(bad.ShutdownSend().error(), errc::not_a_socket);
  EXPECT_EQ(bad.Connect({kLoopback, 1}, kPatience).error(), errc::not_a_socket);
  EXPECT_EQ(bad.Listen().error(), errc::not_a_socket);
  EXPECT_EQ(bad.LocalEndpoint().error(), errc::not_a_socket);
  EXPECT_EQ(SetOption(bad, SocketOption::kNagle, 1).error(),
            errc::not_a_socket);
  EXPECT_EQ(GetOption(bad, SocketOption::kNagle).error(), errc::not_a_socket);
}

TEST(Win32ExactTest, WorkDoneAloneStaysOnTheCpuOfItsCaller) {
  KAFFINITY caller = 0;
  KAFFINITY alone = 0;
  std::thread([&caller, &alone] {
    ASSERT_TRUE(PinThread(0).has_value());
    GROUP_AFFINITY affinity{};
    ::GetThreadGroupAffinity(::GetCurrentThread(), &affinity);
    caller = affinity.Mask;
    RunAlone([&alone] {
      GROUP_AFFINITY own{};
      ::GetThreadGroupAffinity(::GetCurrentThread(), &own);
      alone = own.Mask;
    });
  }).join();
  EXPECT_EQ(caller, 1U);
  EXPECT_EQ(alone, caller);
}

TEST(Win32ExactTest, ProcessCanBePreparedAgain) {
  EXPECT_TRUE(PrepareProcess().has_value());
  EXPECT_TRUE(PrepareProcess().has_value());
}

TEST(Win32ExactTest, ProgramKnowsItsFileAndCannotBecomeAnother) {
  EXPECT_TRUE(std::filesystem::exists(ProgramFile())) << ProgramFile();
  EXPECT_EQ(ReplaceProcess({"cmd.exe"}), errc::operation_not_supported);
}

}  // namespace
}  // namespace wiretoll
