// wiretoll-agent-lwip: the agent on the lwIP stack, in this process, with a TAP
// for a network.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "harness/agent/agent.h"
#include "harness/base/result.h"
#include "harness/base/version.h"
#include "platform/lwip/stack.h"
#include "platform/process.h"

namespace wiretoll {
namespace {

constexpr const char* kDescription =
    R"(wiretoll-agent-lwip: measures what the lwIP TCP/IP stack does, as
wiretoll-agent measures the system's own.

lwIP runs inside this process; a TAP interface of this machine is its network
card. It takes the same requests on standard input as wiretoll-agent, until
its input ends. `wiretoll run --lab linux,lwip` starts it by itself. By hand,
as root, on a TAP that is joined to what the other host is on:

    ip tuntap add lwip0 mode tap
    ip link set lwip0 up master bridge0

    [hosts.lwip]
    agent = ["wiretoll-agent-lwip", "--tap", "lwip0",
             "--address", "192.0.2.7", "--mac", "02:77:00:00:00:07"]
    address = "192.0.2.7"
)";

int Fail(const Failure& failure) {
  std::fprintf(stderr, "wiretoll-agent-lwip: %s\n", failure.message.c_str());
  return static_cast<int>(failure.code);
}

int Serve(const StackSpec& spec) {
  if (const Result<Done> prepared = PrepareProcess(); !prepared.has_value()) {
    return Fail(
        {ExitCode::kNothingRan, "cannot start: " + prepared.error().message()});
  }
  if (const auto started = StartStack(spec); !started.has_value())
    return Fail(started.error());
  return RunAgent(stdin, stdout);
}

int Main(int argc, char** argv) {
  CLI::App app(kDescription);
  app.set_version_flag("--version",
                       std::string("wiretoll-agent-lwip ") + kVersion);
  StackSpec spec;
  app.add_option("--tap", spec.tap,
                 "The TAP interface to use, made where there is none")
      ->required();
  app.add_option("--address", spec.address, "lwIP's own IPv4 address")
      ->required();
  app.add_option("--mac", spec.mac,
                 "lwIP's own MAC address: another than the TAP's")
      ->required();
  app.add_option("--netmask", spec.netmask, "Of its network")
      ->capture_default_str();
  app.add_option("--gateway", spec.gateway,
                 "For what is beyond its network; none without");
  app.add_option("--mtu", spec.mtu, "Bytes, 576 to 9000")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::kUsage);
  }
  return Serve(spec);
}

}  // namespace
}  // namespace wiretoll

int main(int argc, char** argv) { return wiretoll::Main(argc, argv); }
