// Everything that is done with a capture, for bytes that may be anything.
#ifndef WIRETOLL_TESTS_CAPTURE_READ_EVERYTHING_H_
#define WIRETOLL_TESTS_CAPTURE_READ_EVERYTHING_H_

#include <string>

namespace wiretoll {

// Reads `file` as a capture, dissects each frame, follows its flows and prints
// them in every format. Aborts, with a message, where figures contradict each
// other; gives the number of frames, or -1 if it is no capture.
long long ReadEverything(const std::string& file);

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_CAPTURE_READ_EVERYTHING_H_
