// Stories made by hand, for tests of what explains a trial.
#ifndef WIRETOLL_TESTS_REPORTS_MADE_STORY_H_
#define WIRETOLL_TESTS_REPORTS_MADE_STORY_H_

#include <cstdint>
#include <string>

#include "harness/analysis/story.h"

namespace wiretoll {

inline constexpr std::int64_t kUs = 1'000;
inline constexpr std::int64_t kMsNs = 1'000'000;

// Events by time from the story's start, nanoseconds. Sender is the client.
class StoryMaker {
 public:
  // "stream" or "request-response". The handshake takes `rtt_ns`.
  explicit StoryMaker(const std::string& pattern = "stream",
                      std::int64_t rtt_ns = 200 * kUs);

  StoryMaker& Write(std::int64_t at_ns, std::int64_t bytes);
  StoryMaker& Read(std::int64_t at_ns, std::int64_t bytes);
  // The next bytes of the sender's stream, or of the receiver's.
  StoryMaker& Data(std::int64_t at_ns, std::int64_t bytes);
  StoryMaker& Reply(std::int64_t at_ns, std::int64_t bytes);
  StoryMaker& Again(std::int64_t at_ns, std::int64_t offset,
                    std::int64_t bytes);
  // By the receiver.
  StoryMaker& Ack(std::int64_t at_ns, std::int64_t acknowledged,
                  std::int64_t window = 64'000);
  StoryMaker& Stalled(std::int64_t at_ns, std::int64_t lasted_ns,
                      Mechanism mechanism, const std::string& words);
  Story& story() { return story_; }
  // In order of time.
  Story Take();

 private:
  TimelineSegment& Add(std::int64_t at_ns, bool from_client);

  Story story_;
  std::int64_t sent_ = 0, replied_ = 0, acknowledged_ = 0;
};

// Rounds of 9 and 4 bytes and a reply; each waits 43.7 ms for the delayed ACK
// of its first write, as Nagle has it.
Story WriteWriteReadStory(int rounds);

// Full segments of 1448 bytes, one each 123 us (1538 bytes on 100 Mbit/s), an
// ACK for every second; the program writes 16 KiB at a time.
Story BulkStory(int segments);

// A window of 2304 bytes whose reader takes its time: it closes again and
// again. Ends with a loss.
Story SmallWindowStory(int turns);

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_REPORTS_MADE_STORY_H_
