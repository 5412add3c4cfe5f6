#include "harness/run/agent_link.h"

#include <gmock/gmock.h>

#include <chrono>

#include "platform/process.h"

namespace wiretoll {
namespace {

using namespace std::chrono_literals;

class AgentLinkTest : public testing::Test {
 protected:
  // A torn pipe is to be an error, not a signal.
  void SetUp() override { ASSERT_TRUE(PrepareProcess().has_value()); }
};

// What a request to `sh -c script` comes to. `between`: how long the agent is
// left alone before it is asked.
std::string WordsOf(const std::string& script) {
  boost::asio::io_context io;
  AgentLink link(io, {"/bin/sh", "-c", script}, [](std::intptr_t) {});
  // It says so once its input is closed.
  PumpUntil(io, std::chrono::steady_clock::now() + 10s,
            [&] { return link.HasLine() || !link.alive(); });
  link.TakeLine();
  Request request;
  request.verb = "hello";
  const auto reply =
      Ask(io, link, request, std::chrono::steady_clock::now() + 20s);
  return reply.has_value() ? "answered" : reply.error().message;
}

TEST_F(AgentLinkTest, AgentWhoseInputIsTornAMomentBeforeItEndsHasEnded) {
  EXPECT_EQ(WordsOf("exec <&-; echo; sleep 0.5"), "the agent ended");
}

TEST_F(AgentLinkTest, AgentThatLivesOnWithItsInputClosedReadsNoMore) {
  EXPECT_EQ(WordsOf("exec <&-; echo; exec sleep 30"),
            "the agent reads no more");
}

TEST_F(AgentLinkTest, WhatTheAgentSaidAsItEndedIsInTheReason) {
  EXPECT_EQ(WordsOf("exec <&-; echo; sleep 0.2; echo out of memory >&2"),
            "the agent ended; it said: out of memory");
}

}  // namespace
}  // namespace wiretoll
