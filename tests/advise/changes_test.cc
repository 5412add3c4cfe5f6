// The commands, word for word, and what they would gain by hand arithmetic.
#include "harness/advise/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evidence_makers.h"
#include "harness/advise/advise.h"

namespace wiretoll {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<SettingChange> Changes(const Evidence& evidence) {
  return ChangesFor(FindLimits(evidence).front(), evidence);
}

SettingChange FirstChange(const Evidence& evidence) {
  return Changes(evidence).at(0);
}

// 131,072 B at 20 ms under tcp_rmem's own largest, 262,144.
Evidence SmallReceiveBuffer() {
  Evidence e = WindowLimited(Bytes{131072});
  SetFact(e.receiver, TextOf("tcp_rmem", "4096 131072 262144"));
  return e;
}

TEST(ChangesTest, LineIsNothingToChange) {
  EXPECT_THAT(Changes(HealthyEvidence()), IsEmpty());
}

TEST(ChangesTest, ReceiveWindowOfLinuxIsLiftedByTcpRmem) {
  // Twice 250,000 B or four times 131,072 B: 524,288; half of a buffer is
  // window: 1,048,576.
  const SettingChange change = FirstChange(SmallReceiveBuffer());
  EXPECT_EQ(change.host, "b");
  EXPECT_FALSE(change.windows);
  EXPECT_THAT(change.now, ElementsAre("sysctl -w net.ipv4.tcp_rmem=\"4096 "
                                      "131072 1048576\""));
  EXPECT_EQ(change.file, "/etc/sysctl.d/90-wiretoll.conf");
  EXPECT_EQ(change.line, "net.ipv4.tcp_rmem = 4096 131072 1048576");
  EXPECT_THAT(change.undo, ElementsAre("sysctl -w net.ipv4.tcp_rmem=\"4096 "
                                       "131072 262144\""));
  // 524,288 B / 20 ms = 26.2 MB/s, more than the line's 11.77.
  EXPECT_NEAR(change.to.value_or(0), 11'768'530, 1);
  EXPECT_EQ(change.gain,
            "6.40 MB/s now, 11.8 MB/s by theory (the line x efficiency)");
}

TEST(ChangesTest, BufferThatIsLargeEnoughAlreadyIsLeftAlone) {
  EXPECT_THAT(Changes(WindowLimited(Bytes{131072})), IsEmpty());
}

TEST(ChangesTest, AutotuningThatIsOffIsSwitchedOnFirst) {
  Evidence e = SmallReceiveBuffer();
  SetFact(e.receiver, NumberOf("tcp_moderate_rcvbuf", 0));
  EXPECT_THAT(FirstChange(e).now,
              ElementsAre("sysctl -w net.ipv4.tcp_moderate_rcvbuf=1"));
  EXPECT_THAT(FirstChange(e).undo,
              ElementsAre("sysctl -w net.ipv4.tcp_moderate_rcvbuf=0"));
}

TEST(ChangesTest, BufferThatTheProgramAskedForIsTheProgramsToLeave) {
  // 6,291,456 / 2 / 20 ms = 157 MB/s: the line then.
  Evidence e = WindowLimited(Bytes{16384});
  e.subject.workload.rcvbuf = Bytes{16384};
  e.subject.rcvbuf =
      OptionReading{std::int64_t{16384}, std::int64_t{32768}, ""};
  const auto changes = Changes(e);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_THAT(changes[0].now, IsEmpty());
  EXPECT_THAT(changes[0].words, HasSubstr("do not set SO_RCVBUF"));
  ASSERT_TRUE(changes[0].instead.has_value());
  EXPECT_FALSE(changes[0].instead->rcvbuf.has_value());
  EXPECT_NEAR(changes[0].to.value_or(0), 11'768'530, 1);
}

TEST(ChangesTest, ClampedBufferNamesTheSysctlThatClampsIt) {
  Evidence e = WindowLimited(Bytes{212992});
  e.subject.rcvbuf =
      OptionReading{std::int64_t{1048576}, std::int64_t{425984}, "clamped"};
  SetSpeed(e, 10e6);
  const auto changes = Changes(e);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_THAT(changes[1].now,
              ElementsAre("sysctl -w net.core.rmem_max=1048576"));
  EXPECT_THAT(changes[1].undo,
              ElementsAre("sysctl -w net.core.rmem_max=212992"));
}

TEST(ChangesTest, ClampedBufferIsNotedWhateverTheLimit) {
  Evidence e = HealthyEvidence();
  e.subject.rcvbuf = OptionReading{std::int64_t{1048576}, std::int64_t{425984},
                                   "clamped by net.core.rmem_max"};
  EXPECT_THAT(Diagnose(e).evidence.notes,
              Contains("b: SO_RCVBUF of 1,048,576 asked for, 425,984 in force: "
                       "clamped by net.core.rmem_max"));
}

TEST(ChangesTest, ReceiveWindowOfWindowsIsLiftedByAutotuning) {
  Evidence e = WindowLimited(Bytes{131072});
  e.receiver = WindowsHost("b", "10.0.0.2");
  const auto changes = Changes(e);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_TRUE(changes[0].windows);
  EXPECT_THAT(changes[0].now,
              ElementsAre("netsh int tcp set global autotuninglevel=normal",
                          "Set-NetTCPSetting -SettingName Internet "
                          "-AutoTuningLevelLocal Normal"));
  EXPECT_THAT(changes[0].undo, ElementsAre("netsh int tcp set global "
                                           "autotuninglevel=highlyrestricted"));
  EXPECT_THAT(changes[1].now,
              ElementsAre("netsh int tcp set heuristics disabled",
                          "Set-NetTCPSetting -SettingName Internet "
                          "-ScalingHeuristics Disabled"));
}

TEST(ChangesTest, SettingThatCouldNotBeReadIsToBeNotedBefore) {
  Evidence e = SmallReceiveBuffer();
  for (RecordedFact& fact : e.receiver.facts) {
    if (fact.name == "tcp_rmem")
      fact = {"tcp_rmem", OptionValue{}, {}, "permission denied"};
  }
  const SettingChange change = FirstChange(e);
  EXPECT_THAT(change.undo, IsEmpty());
  EXPECT_THAT(change.why_no_undo, HasSubstr("sysctl net.ipv4.tcp_rmem"));
}

TEST(ChangesTest, WindowScalingIsSwitchedOnWhereItIsOff) {
  Evidence e = WindowLimited(Bytes{65535});
  e.subject.window_scale = 0;
  SetFact(e.sender, NumberOf("tcp_window_scaling", 0));
  SetFact(e.receiver, NumberOf("tcp_window_scaling", 0));
  const auto changes = Changes(e);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_EQ(changes[0].host, "a");
  EXPECT_EQ(changes[1].host, "b");
  for (const SettingChange& change : changes) {
    EXPECT_THAT(change.now,
                ElementsAre("sysctl -w net.ipv4.tcp_window_scaling=1"));
    EXPECT_THAT(change.undo,
                ElementsAre("sysctl -w net.ipv4.tcp_window_scaling=0"));
  }
}

TEST(ChangesTest, SendBufferOfLinuxIsLiftedByTcpWmem) {
  // Twice the 524,288 B that twice the line's 250,000 B are rounded up to.
  Evidence e = HealthyEvidence();
  e.subject.peak_window = Bytes{65536};
  e.subject.sndbuf_share = 0.9;
  SetFact(e.sender, TextOf("tcp_wmem", "4096 16384 32768"));
  SetSpeed(e, 1e6);
  EXPECT_THAT(FirstChange(e).now,
              ElementsAre("sysctl -w net.ipv4.tcp_wmem=\"4096 "
                          "16384 1048576\""));
  EXPECT_THAT(FirstChange(e).undo,
              ElementsAre("sysctl -w net.ipv4.tcp_wmem=\"4096 "
                          "16384 32768\""));
}

TEST(ChangesTest, SendBufferOfWindowsIsWinsocksToSize) {
  Evidence e = HealthyEvidence();
  e.sender = WindowsHost("a", "10.0.0.1");
  e.subject.sndbuf_share = 0.9;
  SetSpeed(e, 1e6);
  EXPECT_THAT(FirstChange(e).now,
              ElementsAre("netsh winsock set autotuning on"));
  EXPECT_THAT(FirstChange(e).undo,
              ElementsAre("netsh winsock set autotuning off"));
}

Evidence Lossy() {
  Evidence e = HealthyEvidence();
  e.subject.retransmitted = 0.01;
  e.subject.retransmitted_segments = 100;
  e.subject.data_segments = 10000;
  SetSpeed(e, 1e6);
  return e;
}

TEST(ChangesTest, LossIsLivedWithByAnotherCongestionControl) {
  const SettingChange change = FirstChange(Lossy());
  EXPECT_EQ(change.host, "a");
  EXPECT_THAT(change.now,
              ElementsAre("sysctl -w net.ipv4.tcp_congestion_control=bbr"));
  EXPECT_THAT(change.undo,
              ElementsAre("sysctl -w net.ipv4.tcp_congestion_control=cubic"));
  EXPECT_EQ(change.instead->congestion, "bbr");
}

TEST(ChangesTest, CongestionControlThatIsNotLoadedIsLoadedFirst) {
  Evidence e = Lossy();
  SetFact(e.sender, TextOf("tcp_available_congestion_control", "reno cubic"));
  EXPECT_THAT(FirstChange(e).now,
              ElementsAre("modprobe tcp_bbr",
                          "sysctl -w net.ipv4.tcp_congestion_control=bbr"));
}

TEST(ChangesTest, ProgramThatChoseAgainstTheHostsOwnIsToldSo) {
  Evidence e = Lossy();
  SetFact(e.sender, TextOf("tcp_congestion_control", "bbr"));
  EXPECT_THAT(FirstChange(e).now, IsEmpty());
  EXPECT_THAT(FirstChange(e).words, HasSubstr("asks for cubic"));
}

TEST(ChangesTest, LossWithoutSelectiveAcknowledgmentsHasThemSwitchedOn) {
  Evidence e = Lossy();
  SetFact(e.receiver, NumberOf("tcp_sack", 0));
  EXPECT_EQ(FirstChange(e).host, "b");
  EXPECT_THAT(FirstChange(e).now, ElementsAre("sysctl -w net.ipv4.tcp_sack=1"));
}

TEST(ChangesTest, LossFromWindowsIsLivedWithByItsProvider) {
  Evidence e = Lossy();
  e.sender = WindowsHost("a", "10.0.0.1");
  EXPECT_THAT(FirstChange(e).now,
              ElementsAre("netsh int tcp set supplemental template=internet "
                          "congestionprovider=bbr2"));
  EXPECT_THAT(FirstChange(e).undo,
              ElementsAre("netsh int tcp set supplemental template=internet "
                          "congestionprovider=cubic"));
}

TEST(ChangesTest, QueueIsEmptiedAtTheSenderOrBoundedAtTheReceiver) {
  Evidence e = HealthyEvidence();
  e.loaded_rtt = Rounds(milliseconds(500));
  const auto changes = Changes(e);
  ASSERT_THAT(changes, SizeIs(3));
  EXPECT_THAT(changes[0].now,
              ElementsAre("sysctl -w net.ipv4.tcp_congestion_control=bbr"));
  EXPECT_EQ(changes[0].aim, Aim::kLoadedRtt);
  EXPECT_EQ(changes[0].from, 500e6);
  EXPECT_EQ(changes[0].to, 40e6);  // Two round trips.
  // 0.95 x 100 Mbit/s.
  EXPECT_THAT(changes[1].now, ElementsAre("tc qdisc replace dev eth0 root cake "
                                          "bandwidth 95000kbit"));
  EXPECT_THAT(changes[1].undo,
              ElementsAre("tc qdisc replace dev eth0 root fq_codel"));
  // Twice 250,000 B are 524,288 of window, a buffer of twice that.
  EXPECT_THAT(changes[2].now, ElementsAre("sysctl -w net.ipv4.tcp_rmem=\"4096 "
                                          "131072 1048576\""));
  // 524,288 B at 11.77 MB/s.
  EXPECT_NEAR(changes[2].to.value_or(0), 44.55e6, 0.01e6);
}

TEST(ChangesTest, ShortPathIsNotBoundBelowWhatTcpNeeds) {
  // 12.5 MB/s x 1 ms = 12,500 B: 32,768 B of window at the least, 2.78 ms of
  // the line. BBR would have as much on the way.
  Evidence e = HealthyEvidence();
  e.first_rtt = e.last_rtt = Rounds(milliseconds(1));
  e.loaded_rtt = Rounds(milliseconds(50));
  SetFact(e.sender, TextOf("qdisc", "tbf"));
  const auto changes = Changes(e);
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_THAT(changes[0].now, ElementsAre(HasSubstr("root cake")));
  EXPECT_THAT(changes[0].undo, IsEmpty());
  EXPECT_THAT(changes[0].why_no_undo, HasSubstr("tc qdisc show dev eth0"));
  EXPECT_THAT(changes[1].now, ElementsAre("sysctl -w net.ipv4.tcp_rmem=\"4096 "
                                          "65536 65536\""));
  EXPECT_NEAR(changes[1].to.value_or(0), 2.784e6, 0.001e6);
}

TEST(ChangesTest, BlackHoleIsAvoidedByARouteThatKnowsItsMtu) {
  const auto changes = Changes(BlackHole());
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_THAT(changes[0].now,
              ElementsAre("ip route replace 10.0.0.2/32 $(ip route get "
                          "10.0.0.2 | grep -oE '(via|dev) [^ ]+') mtu 1400"));
  EXPECT_THAT(changes[0].undo, ElementsAre("ip route del 10.0.0.2/32"));
  EXPECT_THAT(changes[1].now,
              ElementsAre("sysctl -w net.ipv4.tcp_mtu_probing=1"));
  EXPECT_THAT(changes[1].undo,
              ElementsAre("sysctl -w net.ipv4.tcp_mtu_probing=0"));
}

TEST(ChangesTest, BlackHoleFromWindowsIsAvoidedByTheInterfacesMtu) {
  Evidence e = BlackHole();
  e.sender = WindowsHost("a", "10.0.0.1");
  EXPECT_THAT(FirstChange(e).now,
              ElementsAre("netsh interface ipv4 set subinterface \"Ethernet "
                          "2\" mtu=1400 store=persistent"));
  EXPECT_THAT(FirstChange(e).undo,
              ElementsAre("netsh interface ipv4 set subinterface \"Ethernet "
                          "2\" mtu=1500 store=persistent"));
}

TEST(ChangesTest, RoutesOfIpv6AreIpv6s) {
  Evidence e = BlackHole();
  e.sender.address = "fd00::1";
  e.receiver.address = "fd00::2";
  EXPECT_THAT(FirstChange(e).now,
              ElementsAre("ip -6 route replace fd00::2/128 $(ip -6 route get "
                          "fd00::2 | grep -oE '(via|dev) [^ ]+') mtu 1400"));
}

Evidence ShortTransfer() {
  Evidence e = HealthyEvidence();
  e.subject.bytes = 200'000;
  e.subject.elapsed = milliseconds(61);
  SetSpeed(e, 200'000 / 0.061);
  return e;
}

TEST(ChangesTest, ShortTransferBeginsWithMoreSegments) {
  // 200,000 / 1448 = 138.1, and 100 at most; those are sent in two round trips
  // instead of four: 61 - 40 = 21 ms, 9.52 MB/s.
  const auto changes = Changes(ShortTransfer());
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_THAT(changes[0].now,
              ElementsAre(HasSubstr("ip route replace 10.0.0.2/32 ")));
  EXPECT_THAT(changes[0].now, ElementsAre(HasSubstr(" initcwnd 100")));
  EXPECT_THAT(changes[0].undo, ElementsAre("ip route del 10.0.0.2/32"));
  EXPECT_NEAR(changes[0].to.value_or(0), 9.52e6, 0.01e6);
  EXPECT_THAT(changes[1].words, HasSubstr("keep one connection"));
}

TEST(ChangesTest, ShortTransferOfWindowsBeginsWithMoreSegmentsToo) {
  Evidence e = ShortTransfer();
  e.sender = WindowsHost("a", "10.0.0.1");
  EXPECT_THAT(FirstChange(e).now, ElementsAre("netsh int tcp set supplemental "
                                              "template=internet icw=100"));
  EXPECT_THAT(FirstChange(e).undo, ElementsAre("netsh int tcp set supplemental "
                                               "template=internet icw=10"));
}

TEST(ChangesTest, DelayedAckIsCuredByTheProgramOrByTheReceiversRoute) {
  const auto changes = Changes(Stalling());
  ASSERT_THAT(changes, SizeIs(2));
  EXPECT_THAT(changes[0].words, HasSubstr("TCP_NODELAY"));
  EXPECT_FALSE(changes[0].instead->nagle);
  EXPECT_EQ(changes[1].host, "b");
  EXPECT_THAT(changes[1].now,
              ElementsAre("ip route replace 10.0.0.1/32 $(ip route get "
                          "10.0.0.1 | grep -oE '(via|dev) [^ ]+') quickack 1"));
  EXPECT_EQ(changes[1].from, 44e6);
  EXPECT_EQ(changes[1].to, 1e6);
}

TEST(ChangesTest, DelayedAckOfWindowsIsSwitchedOffInTheRegistry) {
  Evidence e = Stalling();
  e.receiver = WindowsHost("b", "10.0.0.2");
  EXPECT_THAT(Changes(e).at(1).now,
              ElementsAre(HasSubstr("TcpAckFrequency -Type DWord -Value 1")));
}

TEST(ChangesTest, SlowProgramsAreTheProgramsToMend) {
  Evidence writer = HealthyEvidence();
  writer.subject.workload.gap = milliseconds(5);
  writer.subject.gap_share = 0.97;
  SetSpeed(writer, 0.29e6);
  EXPECT_EQ(FirstChange(writer).instead->gap.count(), 0);
  Evidence reader = HealthyEvidence();
  reader.subject.workload.read = Bytes{1};
  reader.subject.bytes_a_read = 1;
  reader.subject.window_share = 0.95;
  SetSpeed(reader, 0.5e6);
  EXPECT_EQ(FirstChange(reader).instead->read, Bytes{65536});
}

Evidence Busy() {
  Evidence e = HealthyEvidence();
  e.first_rtt = e.last_rtt = Rounds(Nanoseconds{50'000});
  e.line.reset();
  e.subject.sender_cpu = 0.95;
  SetSpeed(e, 1e9);
  return e;
}

TEST(ChangesTest, BusyCpuIsHelpedByOffloadsThatAreOff) {
  Evidence e = Busy();
  e.sender.facts.push_back({"tso", false, {}, {}});
  e.sender.facts.push_back({"gso", false, {}, {}});
  e.sender.facts.push_back({"gro", true, {}, {}});
  EXPECT_THAT(FirstChange(e).now, ElementsAre("ethtool -K eth0 tso on gso on"));
  EXPECT_THAT(FirstChange(e).undo,
              ElementsAre("ethtool -K eth0 tso off gso off"));
}

TEST(ChangesTest, BusyCpuOfWindowsIsHelpedByReceiveSideScaling) {
  Evidence e = Busy();
  e.sender = WindowsHost("a", "10.0.0.1");
  EXPECT_THAT(FirstChange(e).now,
              ElementsAre("Enable-NetAdapterRss -Name \"Ethernet 2\""));
}

TEST(ChangesTest, SeveralStreamsThatMoveMoreAreAdvised) {
  Evidence e = Busy();
  e.streams = 4;
  e.streams_bytes_per_second = 1.9e9;
  EXPECT_THAT(FirstChange(e).words, HasSubstr("several connections"));
  EXPECT_EQ(FirstChange(e).to, 1.9e9);
}

TEST(ChangesTest, InterfaceThatAShellMightObeyIsLeftOut) {
  Evidence e = Busy();
  SetFact(e.sender, TextOf("interface", "eth0; reboot"));
  e.sender.facts.push_back({"gso", false, {}, {}});
  EXPECT_THAT(FirstChange(e).now, Contains("ethtool -K INTERFACE gso on"));
}

TEST(ChangesTest, WindowToAimAtIsTwiceTheLinesOrFourTimesWhatIs) {
  Evidence e = HealthyEvidence();
  e.subject.peak_window = Bytes{65536};
  EXPECT_EQ(WindowToAimAt(e), Bytes{524288});  // 500,000 and up.
  e.subject.peak_window = Bytes{262144};
  EXPECT_EQ(WindowToAimAt(e), Bytes{1048576});
  e.subject.peak_window = Bytes{std::int64_t{1} << 30};
  EXPECT_EQ(WindowToAimAt(e), Bytes{std::int64_t{64} << 20});
}

}  // namespace
}  // namespace wiretoll
