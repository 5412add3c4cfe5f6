// One direction of a TCP connection as a stream of bytes: which were sent,
// which were sent before, which never came by.
#ifndef WIRETOLL_HARNESS_CAPTURE_SEQUENCE_SPACE_H_
#define WIRETOLL_HARNESS_CAPTURE_SEQUENCE_SPACE_H_

#include <cstdint>
#include <vector>

namespace wiretoll {

// Sequence numbers have 32 bits and start over (RFC 9293 3.4); offsets count
// on. They are right as long as no two segments, one behind the other, lie 2
// GiB apart, which the window forbids (RFC 7323 2.2).
class SequenceSpace {
 public:
  // `first` is the sequence number of offset 0. Without the SYN bytes before
  // it were sent too, unseen: they are then a gap without a beginning.
  void Start(std::uint32_t first, bool syn_seen);
  [[nodiscard]] bool started() const { return started_; }

  // Requires started(), as all below.
  [[nodiscard]] std::int64_t OffsetOf(std::uint32_t sequence) const;

  struct Placed {
    std::int64_t fresh = 0;      // Bytes beyond all that was sent.
    std::int64_t filled = 0;     // Bytes that were missing below it,
    std::int64_t waited_ns = 0;  // and how long the first of them were.
    std::int64_t repeated = 0;   // Bytes that were sent before.
  };
  // A segment of `bytes` >= 1.
  Placed Place(std::int64_t offset, std::int64_t bytes, std::int64_t time_ns);

  // Bytes up to `offset` were sent, it is known, but were not seen.
  void ReachTo(std::int64_t offset, std::int64_t time_ns);

  // The offset behind the last byte that was sent.
  [[nodiscard]] std::int64_t next() const { return next_; }
  // Bytes between 0 and next() that did not come by.
  [[nodiscard]] std::int64_t Missing() const;

 private:
  struct Gap {
    std::int64_t begin = 0, end = 0;
    std::int64_t opened_ns = 0;
  };
  void AddGap(const Gap& gap);
  void Fill(std::int64_t begin, std::int64_t end, std::int64_t time_ns,
            Placed& placed);

  std::vector<Gap> gaps_;  // By place; do not touch each other.
  std::int64_t next_ = 0;
  std::int64_t forgotten_ = 0;  // Missing, in gaps that are no longer listed.
  std::uint32_t first_ = 0;
  bool started_ = false;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_CAPTURE_SEQUENCE_SPACE_H_
