// wiretoll-agent: does the trials on its host, told by a coordinator.
#include <cstdio>
#include <string_view>

#include "harness/agent/agent.h"
#include "harness/base/result.h"
#include "harness/base/version.h"
#include "platform/process.h"

namespace {

constexpr char kHelp[] =
    R"(wiretoll-agent: measures on this host what wiretoll asks it to measure.

It takes one JSON request a line on standard input and answers on standard
output, until its input ends. It opens data ports only for a trial, for one
announced peer. People do not start it by hand; wiretoll does, with the command
that a hosts file gives:

    [hosts.b]
    agent = ["ssh", "user@192.0.2.2", "wiretoll-agent"]
    address = "192.0.2.2"

To see that it runs and speaks:

    echo '{"v":1,"id":1,"do":"hello"}' | ssh user@192.0.2.2 wiretoll-agent

Options:
  --help     this text
  --version  the version
)";

int Print(const char* text) {
  const bool written =
      std::fputs(text, stdout) >= 0 && std::fflush(stdout) == 0;
  return static_cast<int>(written ? wiretoll::ExitCode::kDone
                                  : wiretoll::ExitCode::kNothingRan);
}

int Usage(const char* argument) {
  std::fprintf(stderr,
               "wiretoll-agent: unknown argument \"%s\"; it takes none, or "
               "--help or --version\n",
               argument);
  return static_cast<int>(wiretoll::ExitCode::kUsage);
}

int Serve() {
  const wiretoll::Result<wiretoll::Done> prepared = wiretoll::PrepareProcess();
  if (!prepared.has_value()) {
    std::fprintf(stderr, "wiretoll-agent: cannot start: %s\n",
                 prepared.error().message().c_str());
    return static_cast<int>(wiretoll::ExitCode::kNothingRan);
  }
  return wiretoll::RunAgent(stdin, stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return Serve();
  const std::string_view argument = argv[1];
  if (argc > 2) return Usage(argv[2]);
  if (argument == "--help") return Print(kHelp);
  if (argument == "--version") {
    std::printf("wiretoll-agent ");
    std::printf("%s\n", wiretoll::kVersion);
    return 0;
  }
  return Usage(argv[1]);
}
