#include <gtest/gtest.h>

#include <set>

#include "platform/host_facts.h"
#include "tests/platform/connected_pair.h"

namespace wiretoll {
namespace {

// RFC 5737: nobody's.
constexpr const char* kElsewhere = "203.0.113.77";

std::vector<std::string> Names(const std::vector<Fact>& facts) {
  std::vector<std::string> names;
  names.reserve(facts.size());
  for (const Fact& fact : facts) names.push_back(fact.name);
  return names;
}

template <class T>
void ExpectValueOrReason(const Observed<T>& observed) {
  EXPECT_NE(observed.value.has_value(), !observed.reason.empty())
      << observed.reason;
}

TEST(HostFactsContractTest, EachFactHasEitherAValueOrAReason) {
  for (const char* address : {kLoopback, kElsewhere, "no address"}) {
    for (const Fact& fact : ReadHostFacts(address)) {
      const bool unknown = std::holds_alternative<std::monostate>(fact.value);
      EXPECT_EQ(unknown, !fact.reason.empty()) << fact.name;
    }
  }
}

TEST(HostFactsContractTest, NamesAreUniqueLowerSnake) {
  std::set<std::string> seen;
  for (const std::string& name : Names(ReadHostFacts(kLoopback))) {
    EXPECT_TRUE(seen.insert(name).second) << name << " comes twice";
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos)
        << name;
  }
  EXPECT_FALSE(seen.empty());
}

TEST(HostFactsContractTest, FactsAreTheSameWhereverTheyAreUnknown) {
  EXPECT_EQ(Names(ReadHostFacts(kLoopback)), Names(ReadHostFacts(kElsewhere)));
}

TEST(HostFactsContractTest, SystemKnowsItsName) {
  const OsIdentity identity = IdentifyOs();
  EXPECT_FALSE(identity.os.empty());
  EXPECT_FALSE(identity.stack.empty());
  EXPECT_NE(identity.description.find(identity.stack), std::string::npos)
      << identity.description;
}

TEST(HostFactsContractTest, ActivityIsKnownOrExplainedAndNeverFalls) {
  const HostActivity before = ReadHostActivity();
  const HostActivity after = ReadHostActivity();
  ExpectValueOrReason(after.steal_ns);
  ExpectValueOrReason(after.busy_ns);
  ExpectValueOrReason(after.load);
  EXPECT_GE(after.steal_ns.value.value_or(0),
            before.steal_ns.value.value_or(0));
  EXPECT_GE(after.busy_ns.value.value_or(0), before.busy_ns.value.value_or(0));
}

}  // namespace
}  // namespace wiretoll
