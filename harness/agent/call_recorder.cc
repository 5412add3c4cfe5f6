#include "harness/agent/call_recorder.h"

namespace wiretoll {

EndCalls CallRecorder::Calls(Nanoseconds wall) const {
  EndCalls calls = made_;
  for (ProgramCall& call : calls.calls) {
    call.began_ns += wall.count();
    call.returned_ns += wall.count();
  }
  return calls;
}

}  // namespace wiretoll
