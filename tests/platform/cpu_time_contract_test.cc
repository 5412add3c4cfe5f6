#include <gtest/gtest.h>

#include <thread>

#include "platform/clock.h"
#include "platform/cpu_time.h"

namespace wiretoll {
namespace {

using boost::system::errc::invalid_argument;
using std::chrono::milliseconds;

// Burns CPU until this thread's own time grew by `amount`; false if that
// took more than half a minute.
bool SpinFor(Nanoseconds amount) {
  const SteadyTime deadline = MonotonicNow() + std::chrono::seconds{30};
  const Nanoseconds goal = ThreadCpuTime().value() + amount;
  while (ThreadCpuTime().value() < goal) {
    if (MonotonicNow() > deadline) return false;
  }
  return true;
}

TEST(CpuTimeContractTest, GrowsWhileTheThreadSpins) {
  EXPECT_TRUE(SpinFor(milliseconds{30}));
}

TEST(CpuTimeContractTest, GrowsInItsStepsOrInFinerOnes) {
  const Nanoseconds step = ThreadCpuTimeStep();
  EXPECT_GT(step, Nanoseconds{0});
  const Nanoseconds before = ThreadCpuTime().value();
  ASSERT_TRUE(SpinFor(Nanoseconds{1}));  // Until it grows at all.
  // The loop itself, and whoever took the CPU meanwhile, are in it too.
  EXPECT_LT(ThreadCpuTime().value() - before, step + milliseconds{500});
}

// A clock that ran on would have grown by all of the time slept.
TEST(CpuTimeContractTest, DoesNotGrowWhileTheThreadSleeps) {
  const Nanoseconds used = ThreadCpuTime().value();
  const SteadyTime start = MonotonicNow();
  std::this_thread::sleep_for(milliseconds{200});
  const Nanoseconds slept = MonotonicNow() - start;
  EXPECT_LT(ThreadCpuTime().value() - used, slept / 2);
}

TEST(CpuTimeContractTest, DoesNotCountOtherThreads) {
  constexpr milliseconds kElsewhere{100};
  const Nanoseconds used = ThreadCpuTime().value();
  bool spun = false;
  std::thread other([&spun, kElsewhere] { spun = SpinFor(kElsewhere); });
  other.join();
  EXPECT_TRUE(spun);
  EXPECT_LT(ThreadCpuTime().value() - used, Nanoseconds{kElsewhere} / 2);
}

TEST(CpuTimeContractTest, ThreadCanBePinnedToSomeCpuAndLetGo) {
  bool pinned = false;
  bool let_go = false;
  // On a thread of its own: the others stay as they are.
  std::thread([&pinned, &let_go] {
    for (int cpu = 0; cpu < 64 && !pinned; ++cpu) {
      pinned = PinThread(cpu).has_value();
    }
    let_go = UnpinThread().has_value();
  }).join();
  EXPECT_TRUE(pinned);
  EXPECT_TRUE(let_go);
}

TEST(CpuTimeContractTest, PinningToACpuThatIsNotThereFails) {
  EXPECT_EQ(PinThread(-1).error(), invalid_argument);
  EXPECT_EQ(PinThread(1023).error(), invalid_argument);
  EXPECT_EQ(PinThread(1'000'000).error(), invalid_argument);
}

}  // namespace
}  // namespace wiretoll
