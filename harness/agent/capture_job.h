// A capture on this host beside a trial, on a thread of its own.
#ifndef WIRETOLL_HARNESS_AGENT_CAPTURE_JOB_H_
#define WIRETOLL_HARNESS_AGENT_CAPTURE_JOB_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "harness/agent/protocol.h"
#include "harness/base/result.h"
#include "harness/capture/pcapng_writer.h"
#include "platform/packet_capture.h"

namespace wiretoll {

class CaptureJob {
 public:
  // Live when it returns. Times in the file are the monotonic clock's plus
  // `wall`. The failure says what would let this host capture.
  static Result<std::unique_ptr<CaptureJob>, std::string> Start(
      const CaptureRequest& request, Nanoseconds wall);
  ~CaptureJob();
  CaptureJob(const CaptureJob&) = delete;
  CaptureJob& operator=(const CaptureJob&) = delete;

  [[nodiscard]] const std::string& interface_name() const {
    return capture_.interface_name();
  }
  // Waits until nothing more comes, a third of a second at most; then the file
  // is whole. Call it once.
  CaptureEnd End();
  // The pcapng file, after End().
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  CaptureJob(PacketCapture capture, const CaptureRequest& request,
             Nanoseconds wall);
  void Run();
  void Drain();
  bool ReadSome(std::chrono::milliseconds patience);
  void Keep(const PassingFrame& frame);
  [[nodiscard]] std::string WhatIsMissing(const CaptureEnd& end) const;

  PacketCapture capture_;
  const Nanoseconds wall_;
  PcapngWriter writer_;
  std::string file_;
  CaptureEnd end_;
  std::int64_t left_out_ = 0;  // There was no memory to spend on them.
  std::string trouble_;        // What ended it before its time.
  std::atomic<bool> ending_{false};
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_AGENT_CAPTURE_JOB_H_
