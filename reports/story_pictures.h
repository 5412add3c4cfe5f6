// The pictures that explain one trial, each with one sentence computed from
// what was captured.
#ifndef WIRETOLL_REPORTS_STORY_PICTURES_H_
#define WIRETOLL_REPORTS_STORY_PICTURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "reports/document.h"
#include "reports/story_data.h"

namespace wiretoll {

// Time-sequence diagram, a closer look where the whole is too long to see
// anything, ladder diagram, window, sizes, gaps. In this order, `kind` is
// sequence, closer, ladder, window, sizes, departures. The ladder's panel has
// its SVG already, the others are for DrawPictures.
std::vector<Picture> StoryPictures(const Story& story);

// The parts, for whoever wants one of them.
struct StorySpan {  // Of time, nanoseconds from the story's start.
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
};
Picture SequencePicture(const Story& story, const StoryData& data);
// What the closer look is at: the longest stall that the sender's program did
// not make, with what is before and after it; else what was sent again first;
// else the first segments.
StorySpan CloserSpan(const Story& story, const StoryData& data);
Picture CloserPicture(const Story& story, const StoryData& data);
Picture LadderPicture(const Story& story, const StoryData& data);
Picture WindowPicture(const Story& story, const StoryData& data);
Picture SizesPicture(const Story& story, const StoryData& data);
Picture DeparturesPicture(const Story& story, const StoryData& data);

// "199 stalls take 8.60 s of 8.91 s (96.5 %): 199 of delayed ACK (8.60 s)."
std::string StallsSentence(const Story& story, const StoryData& data);

// A unit that keeps the figures of an axis short.
struct AxisUnit {
  double scale = 1;  // Axis units of one nanosecond or byte.
  std::string name;
};
AxisUnit TimeUnit(std::int64_t span_ns);
AxisUnit ByteUnit(double most_bytes);

// "By the clock of ...; lab 100 Mbit/s Ethernet." What every caption ends
// with: whose clock, and which link.
std::string StorySource(const Story& story);

}  // namespace wiretoll

#endif  // WIRETOLL_REPORTS_STORY_PICTURES_H_
