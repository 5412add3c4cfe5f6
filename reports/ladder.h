// The first events of a trial as a ladder diagram: program and stack at either
// end, an arrow a segment. SVG of our own: gnuplot has no such picture.
#ifndef WIRETOLL_REPORTS_LADDER_H_
#define WIRETOLL_REPORTS_LADDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/analysis/story.h"
#include "reports/story_data.h"

namespace wiretoll {

inline constexpr std::size_t kLadderEvents = 30;

enum class LadderKind {
  kSenderCall,    // The sender's program called its stack.
  kReceiverCall,  // The receiver's program.
  kToReceiver,    // A segment.
  kToSender,
  kWait,  // Nothing happened for as long as a stall lasts.
};

struct LadderRow {
  LadderKind kind = LadderKind::kWait;
  std::int64_t at_ns = 0;  // From the story's start.
  std::string text;        // "seq 0, len 32, ack 0"
  bool data = false;       // A segment with payload,
  bool again = false;      // that was sent before.
  std::int64_t calls = 0;  // That the event stands for.
};

// At most `most` events by time, and the stalls between them. Calls of one end
// that nothing came between are one event.
struct Ladder {
  std::vector<LadderRow> rows;
  std::size_t events = 0;  // Rows that are no wait.
  std::size_t of = 0;      // Events of the whole trial, folded likewise.
  std::string left_out;    // Which calls are not in it, and why; or empty.
};
Ladder MakeLadder(const Story& story, const StoryData& data,
                  std::size_t most = kLadderEvents);

// Fit to stand in a page; ids begin with `prefix`. Texts are escaped.
std::string LadderSvg(const Ladder& ladder, const Story& story,
                      const std::string& prefix);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_LADDER_H_
