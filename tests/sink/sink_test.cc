#include "harness/sink/sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "harness/agent/datagram_header.h"
#include "harness/sink/numbered.h"
#include "platform/datagram.h"
#include "platform/process.h"
#include "platform/socket.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Bytes1 = std::vector<std::byte>;

constexpr char kHere[] = "127.0.0.1";

std::uint16_t FreePort() {
  Result<Socket> socket = OpenTcp(kHere, {});
  return socket.value().LocalEndpoint().value().port;
}

SinkSpec SpecFor(std::uint16_t port) {
  SinkSpec spec;
  spec.address = kHere;
  spec.port = port;
  spec.wait = 5s;
  spec.quiet = 200ms;
  return spec;
}

// A sink at work, and what it told once it is over.
class Running {
 public:
  explicit Running(SinkSpec spec)
      : spec_(std::move(spec)), thread_([this] {
          SinkHooks hooks;
          hooks.sunk = [this](const SunkStream& sunk) {
            streams_.push_back(sunk);
          };
          hooks.stop = [this] { return stop_.load(); };
          taken_ = RunSink(spec_, hooks);
        }) {}
  ~Running() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  const std::vector<SunkStream>& Streams() {
    thread_.join();
    EXPECT_TRUE(taken_.has_value()) << taken_.error().message;
    return streams_;
  }

 private:
  const SinkSpec spec_;
  std::atomic<bool> stop_{false};
  Outcome<int> taken_ = 0;
  std::vector<SunkStream> streams_;
  std::thread thread_;  // Last: it uses all of the above.
};

Socket Connected(std::uint16_t port) {
  for (int attempt = 0;; ++attempt) {
    Socket socket = OpenTcp(kHere, {}).value();
    if (socket.Connect({kHere, port}, 1s).has_value()) return socket;
    EXPECT_LT(attempt, 200) << "nobody listens";
    if (attempt >= 200) return socket;
    std::this_thread::sleep_for(10ms);
  }
}

Socket UdpTo(std::uint16_t port) {
  Socket socket = OpenUdp(kHere, {}).value();
  EXPECT_TRUE(socket.Connect({kHere, port}, 1s).has_value());
  return socket;
}

// Until the sink's port is there, a datagram is refused.
void SendFirst(Socket& socket, const Bytes1& datagram) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const bool sent = socket.Send(datagram).has_value();
    std::this_thread::sleep_for(10ms);
    // A refusal comes with the next call; nothing is sent by asking so.
    Bytes1 room(1);
    EXPECT_TRUE(SetReceiveTimeout(socket, 1ms).has_value());
    const auto back = ReceiveDatagram(socket, room);
    const bool refused =
        !back.has_value() &&
        back.error() == boost::system::errc::connection_refused;
    if (sent && !refused) return;
  }
  ADD_FAILURE() << "nobody listens";
}

Bytes1 Numbered(std::int32_t number, std::size_t size = 100) {
  Bytes1 datagram(size);
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  PutNetworkOrder(static_cast<std::uint32_t>(number), datagram.data());
  PutNetworkOrder(static_cast<std::uint32_t>(now.count()), datagram.data() + 4);
  return datagram;
}

TEST(SinkTest, APlainTcpStreamIsCountedToItsEnd) {
  ASSERT_TRUE(PrepareProcess().has_value());
  const std::uint16_t port = FreePort();
  Running sink(SpecFor(port));
  {
    Socket socket = Connected(port);
    const Bytes1 data(1000);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(socket.Send(data).value().count, 1000);
    }
  }
  const auto& streams = sink.Streams();
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_EQ(streams[0].end.bytes, 1'000'000);
  EXPECT_TRUE(streams[0].whole);
  EXPECT_EQ(streams[0].ended, "end of stream");
  EXPECT_EQ(streams[0].sender.address, kHere);
  EXPECT_EQ(streams[0].local.port, port);
  EXPECT_TRUE(streams[0].end.elapsed_ns.has_value());
  EXPECT_TRUE(streams[0].end.options.contains("rcvbuf"));
}

TEST(SinkTest, AStreamIsCutAtTheMostThatIsTaken) {
  const std::uint16_t port = FreePort();
  SinkSpec spec = SpecFor(port);
  spec.most = Bytes{50'000};
  spec.read = Bytes{1000};
  Running sink(spec);
  Socket socket = Connected(port);
  ASSERT_TRUE(socket.Send(Bytes1(100'000)).has_value());
  const auto& streams = sink.Streams();
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_FALSE(streams[0].whole);
  EXPECT_THAT(streams[0].ended, HasSubstr("--bytes"));
  // Not a read more than it took.
  EXPECT_EQ(streams[0].end.bytes, 50'000);
}

TEST(SinkTest, ASilentConnectionIsCutAfterTheLongestTime) {
  const std::uint16_t port = FreePort();
  SinkSpec spec = SpecFor(port);
  spec.longest = 200ms;
  Running sink(spec);
  const Socket socket = Connected(port);
  const auto& streams = sink.Streams();
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_THAT(streams[0].ended, HasSubstr("--longest"));
  EXPECT_EQ(streams[0].end.bytes, 0);
  EXPECT_FALSE(streams[0].end.elapsed_ns.has_value());
}

TEST(SinkTest, WhereNobodyComesItEnds) {
  SinkSpec spec = SpecFor(FreePort());
  spec.wait = 150ms;
  Running sink(spec);
  EXPECT_THAT(sink.Streams(), IsEmpty());
}

TEST(SinkTest, DatagramsAreCountedUntilNothingComes) {
  const std::uint16_t port = FreePort();
  Running sink(SpecFor(port));
  Socket socket = UdpTo(port);
  SendFirst(socket, Bytes1(100));
  for (int i = 1; i < 10; ++i) {
    ASSERT_TRUE(socket.Send(Bytes1(100)).has_value());
  }
  const auto& streams = sink.Streams();
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_TRUE(streams[0].udp);
  EXPECT_EQ(streams[0].end.bytes, 10 * 100);
  EXPECT_EQ(streams[0].end.datagrams->received, 10);
  EXPECT_THAT(streams[0].ended, HasSubstr("nothing came for"));
  // 100 zeros are not iperf's: its clock would be at 1970.
  EXPECT_FALSE(streams[0].numbered.has_value());
}

TEST(SinkTest, NumbersOfIperfTellLossDuplicatesAndTheEnd) {
  const std::uint16_t port = FreePort();
  SinkSpec spec = SpecFor(port);
  spec.quiet = 5s;  // It is the last number that ends it.
  Running sink(spec);
  Socket socket = UdpTo(port);
  SendFirst(socket, Numbered(0));
  for (const std::int32_t number : {1, 2, 4, 5, 5, 7, 6, -8, -8, -8}) {
    ASSERT_TRUE(socket.Send(Numbered(number)).has_value());
  }
  const auto& streams = sink.Streams();
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_EQ(streams[0].ended, "the sender's last datagram came");
  ASSERT_TRUE(streams[0].numbered.has_value());
  // 0 to 8, of which 3 did not come, 5 came twice and 6 behind 7.
  EXPECT_EQ(streams[0].numbered->sent, 9);
  EXPECT_EQ(streams[0].numbered->lost, 1);
  EXPECT_EQ(streams[0].numbered->duplicated, 1);
  EXPECT_EQ(streams[0].numbered->reordered, 1);
}

TEST(SinkTest, TheEndMarkOfTtcpEndsAStreamAndIsNoPayload) {
  const std::uint16_t port = FreePort();
  SinkSpec spec = SpecFor(port);
  spec.quiet = 5s;
  Running sink(spec);
  Socket socket = UdpTo(port);
  SendFirst(socket, Bytes1(8192));
  ASSERT_TRUE(socket.Send(Bytes1(8192)).has_value());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(socket.Send(Bytes1(4)).has_value());
  }
  const auto& streams = sink.Streams();
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_THAT(streams[0].ended, HasSubstr("ttcp"));
  EXPECT_EQ(streams[0].end.bytes, 2 * 8192);
}

TEST(SinkTest, DatagramsOfSomebodyElseAreCountedApart) {
  const std::uint16_t port = FreePort();
  Running sink(SpecFor(port));
  Socket socket = UdpTo(port);
  Socket stranger = UdpTo(port);
  SendFirst(socket, Bytes1(100));
  ASSERT_TRUE(stranger.Send(Bytes1(500)).has_value());
  ASSERT_TRUE(socket.Send(Bytes1(100)).has_value());
  const auto& streams = sink.Streams();
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_EQ(streams[0].end.bytes, 200);
  EXPECT_EQ(streams[0].strangers, 1);
}

TEST(SinkTest, OnlyTheSenderNamedIsTaken) {
  const std::uint16_t port = FreePort();
  SinkSpec spec = SpecFor(port);
  spec.from = "127.0.0.9";
  spec.wait = 500ms;
  Running sink(spec);
  const Socket socket = Connected(port);
  EXPECT_THAT(sink.Streams(), IsEmpty());
}

TEST(SinkTest, SeveralStreamsOfBothKindsAreTaken) {
  const std::uint16_t port = FreePort();
  SinkSpec spec = SpecFor(port);
  spec.streams = 3;
  Running sink(spec);
  for (int i = 0; i < 2; ++i) {
    Socket socket = Connected(port);
    ASSERT_TRUE(socket.Send(Bytes1(10)).has_value());
  }
  Socket udp = UdpTo(port);
  SendFirst(udp, Bytes1(20));
  const auto& streams = sink.Streams();
  ASSERT_THAT(streams, SizeIs(3));
  EXPECT_EQ(streams[0].end.bytes + streams[1].end.bytes + streams[2].end.bytes,
            10 + 10 + 20);
}

TEST(SinkTest, APortInUseIsRefusedWithTheRemedy) {
  Socket holder = OpenTcp(kHere, {}).value();
  ASSERT_TRUE(holder.Listen().has_value());
  const std::uint16_t port = holder.LocalEndpoint().value().port;
  const Outcome<int> taken = RunSink(SpecFor(port), {});
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code, ExitCode::kUsage);
  EXPECT_THAT(taken.error().message, HasSubstr("choose another --port"));
}

TEST(NumberWatchTest, TextIsNotTakenForNumbers) {
  NumberWatch watch(1'800'000'000);
  const Bytes1 text(200, std::byte{'a'});
  EXPECT_TRUE(watch.Add(text));
  EXPECT_FALSE(watch.Numbers().has_value());
}

TEST(NumberWatchTest, AnAbsurdNumberIsNeitherLostNorASize) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  NumberWatch watch(now.count());
  EXPECT_TRUE(watch.Add(Numbered(1)));
  EXPECT_TRUE(watch.Add(Numbered(2)));
  EXPECT_TRUE(watch.Add(Numbered(std::numeric_limits<std::int32_t>::max())));
  EXPECT_EQ(watch.Numbers()->sent, 2);
}

}  // namespace
}  // namespace wiretoll
