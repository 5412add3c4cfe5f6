#include "harness/programs/stop_signals.h"

#include <csignal>

namespace wiretoll {
namespace {

// A handler can reach nothing but a global.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t stop_requested = 0;

extern "C" void NoteSignal(int /*signal*/) { stop_requested = 1; }

}  // namespace

void NoteStopSignals() {
  std::signal(SIGINT, NoteSignal);
  std::signal(SIGTERM, NoteSignal);
#ifdef SIGHUP  // POSIX only.
  std::signal(SIGHUP, NoteSignal);
#endif
}

bool StopRequested() { return stop_requested != 0; }

}  // namespace wiretoll
