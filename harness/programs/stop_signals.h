// Ctrl-C while a lab is being made or taken down.
#ifndef WIRETOLL_HARNESS_PROGRAMS_STOP_SIGNALS_H_
#define WIRETOLL_HARNESS_PROGRAMS_STOP_SIGNALS_H_

namespace wiretoll {

// From now on SIGINT, SIGTERM and SIGHUP are noted and end nothing, so that
// what was made can be taken down. The runner has handlers of its own while
// trials run; call again after it.
void NoteStopSignals();

// Whether one came since.
bool StopRequested();

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_STOP_SIGNALS_H_
