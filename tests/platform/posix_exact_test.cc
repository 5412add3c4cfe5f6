// What Linux does exactly, where the contract leaves it to the system.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <future>
#include <thread>

#include "platform/clock.h"
#include "platform/cpu_time.h"
#include "platform/host_facts.h"
#include "platform/options.h"
#include "platform/tcp_counters.h"
#include "tests/platform/connected_pair.h"

namespace wiretoll {
namespace {

using boost::system::errc::bad_file_descriptor;
using boost::system::errc::interrupted;
using boost::system::errc::timed_out;
using std::chrono::milliseconds;

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

template <class T>
T ReadSetting(const std::string& path) {
  T value{};
  std::ifstream(path) >> value;
  return value;
}

int Fd(const Socket& socket) { return static_cast<int>(socket.handle()); }

std::int64_t ReadBack(SocketOption option, std::int64_t wanted) {
  const Socket socket = OpenTcp(kLoopback, {}).value();
  EXPECT_TRUE(SetOption(socket, option, wanted).has_value());
  return GetOption(socket, option).value();
}

Fact FindHostFact(const std::string& name) {
  for (Fact& fact : ReadHostFacts(kLoopback)) {
    if (fact.name == name) return std::move(fact);
  }
  return {name, std::monostate{}, "no such fact"};
}

// Twice what was asked for, to have room for bookkeeping, and never less than
// one buffer of 2048 bytes with its descriptor of 256: 2304.
TEST(PosixExactTest, ReceiveBufferReadsBackDoubledAndAtLeast2304) {
  const auto limit = ReadSetting<std::int64_t>("/proc/sys/net/core/rmem_max");
  ASSERT_GE(limit, 65'536);
  for (const std::int64_t wanted : {1, 2, 100, 1000, 1152}) {
    EXPECT_EQ(ReadBack(SocketOption::kRcvbuf, wanted), 2304) << wanted;
  }
  EXPECT_EQ(ReadBack(SocketOption::kRcvbuf, 1153), 2306);
  EXPECT_EQ(ReadBack(SocketOption::kRcvbuf, 2304), 4608);
  EXPECT_EQ(ReadBack(SocketOption::kRcvbuf, 65'536), 131'072);
  EXPECT_EQ(ReadBack(SocketOption::kRcvbuf, kGibibyte),
            2 * std::min(kGibibyte, limit));
}

// Likewise, with room for two such buffers: 4608.
TEST(PosixExactTest, SendBufferReadsBackDoubledAndAtLeast4608) {
  const auto limit = ReadSetting<std::int64_t>("/proc/sys/net/core/wmem_max");
  ASSERT_GE(limit, 65'536);
  for (const std::int64_t wanted : {1, 2, 1000, 2304}) {
    EXPECT_EQ(ReadBack(SocketOption::kSndbuf, wanted), 4608) << wanted;
  }
  EXPECT_EQ(ReadBack(SocketOption::kSndbuf, 4096), 8192);
  EXPECT_EQ(ReadBack(SocketOption::kSndbuf, 65'536), 131'072);
  EXPECT_EQ(ReadBack(SocketOption::kSndbuf, kGibibyte),
            2 * std::min(kGibibyte, limit));
}

TEST(PosixExactTest, AcceptedSocketInheritsTheListenersReceiveBuffer) {
  Socket listening = OpenTcp(kLoopback, {}).value();
  ASSERT_TRUE(SetOption(listening, SocketOption::kRcvbuf, 2).has_value());
  ASSERT_TRUE(listening.Listen().has_value());
  Socket near = OpenTcp(kLoopback, {}).value();
  ASSERT_TRUE(
      near.Connect(listening.LocalEndpoint().value(), kPatience).has_value());
  const AcceptedSocket accepted = listening.Accept(kPatience).value();
  EXPECT_EQ(GetOption(accepted.socket, SocketOption::kRcvbuf).value(), 2304);
}

TEST(PosixExactTest, SwitchesAreTheKernelsOwn) {
  struct Switch {
    SocketOption option;
    int native;
    bool negated;
  };
  for (const Switch& s :
       {Switch{SocketOption::kNagle, TCP_NODELAY, true},
        Switch{SocketOption::kCork, TCP_CORK, false},
        Switch{SocketOption::kQuickack, TCP_QUICKACK, false}}) {
    const SocketPair pair = ConnectedPair();
    for (const int wanted : {1, 0}) {
      ASSERT_TRUE(SetOption(pair.near, s.option, wanted).has_value());
      int native = -1;
      socklen_t length = sizeof native;
      ASSERT_EQ(
          ::getsockopt(Fd(pair.near), IPPROTO_TCP, s.native, &native, &length),
          0);
      EXPECT_EQ(native, s.negated ? 1 - wanted : wanted) << s.native;
      EXPECT_EQ(GetOption(pair.near, s.option).value(), wanted) << s.native;
    }
  }
}

TEST(PosixExactTest, MssSetBeforeConnectingBoundsTheSegments) {
  Socket listening = ListeningSocket();
  Socket near = OpenTcp(kLoopback, {}).value();
  ASSERT_TRUE(SetOption(near, SocketOption::kMss, 600).has_value());
  ASSERT_TRUE(
      near.Connect(listening.LocalEndpoint().value(), kPatience).has_value());
  const TcpCounters counters = ReadTcpCounters(near);
  // Timestamps take 12 bytes of each segment where they are in use.
  EXPECT_EQ(*counters.mss_bytes, 600 - 12 * *counters.timestamps);
}

TEST(PosixExactTest, FreshSocketHasTheCongestionControlOfTheHost) {
  const Socket socket = OpenTcp(kLoopback, {}).value();
  EXPECT_EQ(FindHostFact("tcp_congestion_control").value,
            Fact::Value{GetCongestion(socket).value()});
}

TEST(PosixExactTest, FactsAreWhatTheSystemsOwnFilesSay) {
  EXPECT_EQ(FindHostFact("interface").value, Fact::Value{std::string{"lo"}});
  EXPECT_EQ(
      FindHostFact("rmem_max").value,
      Fact::Value{ReadSetting<std::int64_t>("/proc/sys/net/core/rmem_max")});
  EXPECT_EQ(
      FindHostFact("kernel").value,
      Fact::Value{ReadSetting<std::string>("/proc/sys/kernel/osrelease")});
}

TEST(PosixExactTest, LinuxIsNamedWithItsVersionButNotItsBuild) {
  const auto release = ReadSetting<std::string>("/proc/sys/kernel/osrelease");
  const OsIdentity identity = IdentifyOs();
  if (identity.os != "linux") {
    GTEST_SKIP() << "about Linux's own kernel, and this is " << identity.stack
                 << ": run it on Linux";
  }
  EXPECT_EQ(identity.stack.find_first_not_of("0123456789.", 6),
            std::string::npos);
  EXPECT_TRUE(release.starts_with(identity.stack.substr(6)));
  EXPECT_TRUE(identity.stack.starts_with("Linux "));
}

TEST(PosixExactTest, EveryCallOnABadHandleSaysSo) {
  // Far beyond what a process may open.
  Socket bad{static_cast<Socket::Handle>(1 << 30)};
  std::array<std::byte, 1> buffer{};
  EXPECT_EQ(bad.Send(buffer).error(), bad_file_descriptor);
  EXPECT_EQ(bad.Receive(buffer).error(), bad_file_descriptor);
  EXPECT_EQ(bad.ShutdownSend().error(), bad_file_descriptor);
  EXPECT_EQ(bad.UnacknowledgedBytes().error(), bad_file_descriptor);
  EXPECT_EQ(bad.Connect({kLoopback, 1}, kPatience).error(),
            bad_file_descriptor);
  EXPECT_EQ(bad.Listen().error(), bad_file_descriptor);
  EXPECT_EQ(bad.LocalEndpoint().error(), bad_file_descriptor);
  EXPECT_EQ(SetOption(bad, SocketOption::kNagle, 1).error(),
            bad_file_descriptor);
  EXPECT_EQ(GetOption(bad, SocketOption::kNagle).error(), bad_file_descriptor);
  EXPECT_EQ(GetCongestion(bad).error(), bad_file_descriptor);
}

// A listener with room for one: Linux drops the SYN that comes when it is
// full, so that whoever sent it waits.
TEST(PosixExactTest, ConnectTimesOutWhenNobodyAnswers) {
  const Socket full = OpenTcp(kLoopback, {}).value();
  ASSERT_EQ(::listen(Fd(full), 0), 0);
  const Endpoint there = full.LocalEndpoint().value();
  std::vector<Socket> waiting;
  Error error;
  for (int i = 0; i < 8 && !error; ++i) {
    waiting.push_back(OpenTcp(kLoopback, {}).value());
    error = waiting.back().Connect(there, milliseconds{300}).error();
  }
  EXPECT_EQ(error, timed_out) << error.message();
  EXPECT_EQ(::fcntl(Fd(waiting.back()), F_GETFL) & O_NONBLOCK, 0)
      << "blocking again also after a failure";
}

TEST(PosixExactTest, ConnectedAndAcceptedSocketsBlockAndCloseOnExec) {
  const SocketPair pair = ConnectedPair();
  for (const Socket* socket : {&pair.near, &pair.far}) {
    EXPECT_EQ(::fcntl(Fd(*socket), F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(Fd(*socket), F_GETFD) & FD_CLOEXEC, 0);
  }
}

// Signals without SA_RESTART, sent to `thread` until `done` is ready.
template <class T>
void Pester(std::thread& thread, std::future<T>& done) {
  while (done.wait_for(milliseconds{2}) != std::future_status::ready) {
    ::pthread_kill(thread.native_handle(), SIGUSR1);
  }
}

class SignalTest : public testing::Test {
 protected:
  void SetUp() override {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    ASSERT_EQ(::sigaction(SIGUSR1, &nothing, nullptr), 0);
  }
};

TEST_F(SignalTest, ReceiveReportsASignalInsteadOfTryingAgain) {
  auto [near, far] = ConnectedPair();
  std::packaged_task<Error()> task([&near = near] {
    std::array<std::byte, 1> buffer{};
    return near.Receive(buffer).error();
  });
  std::future<Error> done = task.get_future();
  std::thread thread(std::move(task));
  Pester(thread, done);
  thread.join();
  EXPECT_EQ(done.get(), interrupted);
}

TEST_F(SignalTest, AcceptWaitsOnUntilItsTimeIsUp) {
  Socket listening = ListeningSocket();
  std::packaged_task<Error()> task(
      [&listening] { return listening.Accept(milliseconds{100}).error(); });
  std::future<Error> done = task.get_future();
  const SteadyTime start = MonotonicNow();
  std::thread thread(std::move(task));
  Pester(thread, done);
  thread.join();
  EXPECT_EQ(done.get(), timed_out);
  EXPECT_GE(MonotonicNow() - start, milliseconds{100});
}

TEST_F(SignalTest, WaitUntilIsNotCutShort) {
  std::packaged_task<bool()> task([] {
    const SteadyTime due = MonotonicNow() + milliseconds{50};
    WaitUntil(due);
    return MonotonicNow() >= due;
  });
  std::future<bool> done = task.get_future();
  std::thread thread(std::move(task));
  Pester(thread, done);
  thread.join();
  EXPECT_TRUE(done.get());
}

TEST(PosixExactTest, FineTimersSetTheSlackAndGiveItBack) {
  const int before = ::prctl(PR_GET_TIMERSLACK);
  {
    const FineTimers fine;
    EXPECT_EQ(::prctl(PR_GET_TIMERSLACK), 1);
  }
  EXPECT_EQ(::prctl(PR_GET_TIMERSLACK), before);
}

TEST(PosixExactTest, PinnedThreadRunsWhereItWasPut) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) continue;
    ASSERT_TRUE(PinThread(cpu).has_value());
    EXPECT_EQ(::sched_getcpu(), cpu);
  }
  ASSERT_TRUE(UnpinThread().has_value());
  cpu_set_t after;
  CPU_ZERO(&after);
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  EXPECT_GE(CPU_COUNT(&after), CPU_COUNT(&allowed));
}

}  // namespace
}  // namespace wiretoll
