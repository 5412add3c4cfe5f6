#include "harness/lab/static_program.h"

#include <fstream>
#include <string>

#include "harness/lab/commands.h"

namespace wiretoll {

bool IsStatic(const std::filesystem::path& program) {
  std::ifstream in(program, std::ios::binary);
  std::string head(4096, '\0');
  in.read(head.data(), std::ssize(head));
  return head.find("/ld-linux") == std::string::npos;
}

Outcome<Done> CheckStatic(const std::filesystem::path& agent) {
  if (IsStatic(agent)) return Done{};
  return NothingRan(agent.string() +
                    " is not static, and where it is to run there are no "
                    "libraries: build with WIRETOLL_STATIC_AGENT=ON and "
                    "without sanitizers");
}

}  // namespace wiretoll
