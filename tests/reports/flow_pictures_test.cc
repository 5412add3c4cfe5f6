#include "reports/flow_pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/pictures.h"
#include "tests/reports/fixture.h"

namespace wiretoll {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr char kTopologiesStudy[] = R"(title = "Topologies"
question = "How do they share?"
[factors]
topology = ["all-to-all", "ring"]
[stop]
bytes = "1MB"
)";

// Six flows among three hosts. All to all: 1 MB/s each. In what is called a
// ring here, a's two flows get 4 MB/s each.
class FlowPicturesTest : public testing::Test {
 protected:
  FlowPicturesTest() {
    run_.hosts = {{"a"}, {"b"}, {"c"}};
    run_.pairs = {{"a", "b"}, {"a", "c"}, {"b", "a"},
                  {"b", "c"}, {"c", "a"}, {"c", "b"}};
    run_.study_name = "topologies";
    run_.study_text = kTopologiesStudy;
    run_.blocks = 3;
    run_.rate_bits_per_second = 100e6;
    run_.adjust = [](Sample& sample) {
      const std::string topology =
          SpellFactor(*FindFactor(sample.factors, "topology"));
      sample.flow = TrialFlow{"topologies/" + sample.case_id + "/" + topology +
                                  "/" + std::to_string(sample.repeat),
                              topology, 6, 0, 1};
      sample.receiver->bytes = 1'000'000;
      sample.receiver->first_read_bytes = 0;
      const bool fast = topology == "ring" && sample.sender->host == "a";
      sample.receiver->elapsed_ns = fast ? 250'000'000 : 1'000'000'000;
    };
  }

  SyntheticRun run_;
  TemporaryFolder folder_;
};

// All to all 6 x 1 MB/s and 1. The ring 2 x 4 + 4 x 1 = 12 MB/s and
// 12^2 / (6 x (2 x 16 + 4 x 1)) = 144 / 216 = 0.667.
TEST_F(FlowPicturesTest, AStudyOfFlowsIsDrawnAgainstTheirNumber) {
  const Analysis analysis = AnalysisOf(folder_.path(), run_);
  const StudyView view = ViewStudy(analysis, 0);
  ASSERT_TRUE(IsFlowStudy(view));
  const std::vector<Picture> pictures = StudyPictures(view);
  ASSERT_GE(pictures.size(), 2U);
  EXPECT_EQ(pictures[0].kind, "fairness");
  ASSERT_THAT(pictures[0].panels, SizeIs(2));
  EXPECT_EQ(pictures[0].panels[1].label, "ring");
  const ChartPoint uneven =
      pictures[0].panels[1].request.chart.curves[0].points[0];
  EXPECT_EQ(uneven.x, 6);
  EXPECT_NEAR(uneven.y, 2.0 / 3, 1e-9);
  EXPECT_THAT(
      pictures[0].sentence,
      HasSubstr("Least even share 6 flows of ring: Jain's index 0.667"));
  EXPECT_EQ(pictures[1].kind, "throughput");
  EXPECT_NEAR(pictures[1].panels[0].request.chart.curves[0].points[0].y, 6,
              1e-9);
  EXPECT_THAT(pictures[1].sentence,
              HasSubstr("Most is carried by 6 flows of ring, 12.0 MB/s"));
}

TEST_F(FlowPicturesTest, ItsCardsAreOfFlows) {
  const Analysis analysis = AnalysisOf(folder_.path(), run_);
  std::vector<Card> cards;
  AddFlowCards(ViewStudy(analysis, 0), cards);
  ASSERT_THAT(cards, SizeIs(2));
  EXPECT_EQ(cards[0].figure, "0.667");
  EXPECT_EQ(cards[1].figure, "12.0 MB/s");
}

// Throughput against the write is what such a study asks.
TEST_F(FlowPicturesTest, AStudyThatVariesTheWriteIsNoStudyOfFlows) {
  run_.study_text = R"(title = "Topologies"
question = "How do they share?"
[factors]
topology = ["all-to-all", "ring"]
write = [1000, 2000]
[stop]
bytes = "1MB"
)";
  const Analysis analysis = AnalysisOf(folder_.path(), run_);
  EXPECT_FALSE(IsFlowStudy(ViewStudy(analysis, 0)));
}

}  // namespace
}  // namespace wiretoll
