#include "harness/programs/check_verb.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "harness/check/check.h"
#include "harness/check/describe.h"
#include "harness/programs/standard_error.h"
#include "harness/run/hosts.h"
#include "harness/run/progress.h"
#include "platform/process.h"
#include "platform/terminal.h"

namespace wiretoll {
Outcome<ExitCode> CheckVerb(const CheckOptions& options) {
  auto file = LoadHosts(options.hosts);
  if (!file.has_value()) return file.error();
  CheckSpec spec;
  spec.file = options.hosts;
  spec.hosts = std::move(file.value().hosts);
  spec.declared_mtu = file.value().link.mtu;
  spec.first_port = options.first_port;
  spec.last_port = options.last_port;
  spec.guard = KeepFromChildren;
  CheckReport report;
  {
    Progress progress({options.quiet, StandardErrorIsTerminal()}, WriteError);
    report = CheckHosts(spec, progress);
  }  // Its last line goes before the tables come.
  fmt::print("{}", options.format == CheckOptions::Format::kJson
                       ? CheckJson(report)
                       : CheckText(report));
  return CodeOf(report);
}

}  // namespace wiretoll
