#include "harness/analysis/window_waits.h"

#include <gtest/gtest.h>

#include "tests/analysis/timelines.h"

namespace wiretoll {
namespace {

CaptureRecord WaitsOf(TimelineMaker& maker) {
  CaptureRecord record;
  FillWindowWaits(maker.timeline(), record);
  return record;
}

// Closed with 1000 bytes read at 2 ms, opened at 30 and at 50 ms.
TEST(WindowWaitsTest, OfWindowsThatOpenAClosedOneTheLeastIsKept) {
  TimelineMaker maker;
  maker.Data(kMilli, 1000)
      .Window(0)
      .Ack(2 * kMilli, 1000)
      .Window(724)
      .Ack(30 * kMilli, 1000)
      .Data(31 * kMilli, 724)
      .Window(0)
      .Ack(32 * kMilli, 1724)
      .Window(576)
      .Ack(50 * kMilli, 1724);
  EXPECT_EQ(WaitsOf(maker).window_reopened_bytes, 576);
}

TEST(WindowWaitsTest, AWindowThatNeverClosedWasNotReopened) {
  TimelineMaker maker;
  maker.Data(kMilli, 1000)
      .Window(1)
      .Ack(2 * kMilli, 1000)
      .Window(5000)
      .Ack(3 * kMilli, 1000);
  const CaptureRecord record = WaitsOf(maker);
  EXPECT_EQ(record.window_reopened_bytes, std::nullopt);
  EXPECT_EQ(record.persist_wait_ns, std::nullopt);
  EXPECT_EQ(record.silly_wait_ns, std::nullopt);
}

// The window closes at 2 ms; probes at 207 and 617 ms. Only the first one's
// wait is the timer's first.
TEST(WindowWaitsTest, TheFirstProbeOfAClosedWindowTellsThePersistTimer) {
  TimelineMaker maker;
  maker.Data(kMilli, 1000).Window(0).Ack(2 * kMilli, 1000);
  maker.Data(207 * kMilli, 0).last().probe = true;
  maker.Ack(208 * kMilli, 1000);
  maker.Data(617 * kMilli, 0).last().probe = true;
  EXPECT_EQ(WaitsOf(maker).persist_wait_ns, 205 * kMilli);
}

// 24 bytes of room at 2 ms, less than a segment: 203 ms later just these.
TEST(WindowWaitsTest, WhatFillsTheRoomAfterTheTimerWasASillyWindowsWait) {
  TimelineMaker maker;
  maker.Data(kMilli, 1000)
      .Window(24)
      .Ack(2 * kMilli, 1000)
      .Data(205 * kMilli, 24);
  EXPECT_EQ(WaitsOf(maker).silly_wait_ns, 203 * kMilli);
}

TEST(WindowWaitsTest, WhatLeftAtOnceOrLeftRoomWaitedForNoTimer) {
  TimelineMaker at_once;
  at_once.Data(kMilli, 1000)
      .Window(24)
      .Ack(2 * kMilli, 1000)
      .Data(3 * kMilli, 24);
  EXPECT_EQ(WaitsOf(at_once).silly_wait_ns, std::nullopt);
  TimelineMaker with_room;
  with_room.Data(kMilli, 1000)
      .Window(2000)
      .Ack(2 * kMilli, 1000)
      .Data(205 * kMilli, 24);
  EXPECT_EQ(WaitsOf(with_room).silly_wait_ns, std::nullopt);
}

// The edge moves at 200 ms, by a window update; the segment follows it.
TEST(WindowWaitsTest, AWindowUpdateEndsAWaitWithoutTheTimer) {
  TimelineMaker maker;
  maker.Data(kMilli, 1000)
      .Window(24)
      .Ack(2 * kMilli, 1000)
      .Window(600)
      .Ack(200 * kMilli, 1000)
      .Data(201 * kMilli, 600);
  EXPECT_EQ(WaitsOf(maker).silly_wait_ns, std::nullopt);
}

}  // namespace
}  // namespace wiretoll
