// What a trial put on the wire, from all who saw it.
#ifndef WIRETOLL_HARNESS_PROGRAMS_ACCOUNT_H_
#define WIRETOLL_HARNESS_PROGRAMS_ACCOUNT_H_

#include <filesystem>

#include "harness/samples/sample.h"

namespace wiretoll {

// RunHooks::account: reads the sample's capture in `folder`, where it has one,
// and fills its figures; then fills the sample's wire.
void AccountSample(const std::filesystem::path& folder, int ip_version,
                   Sample& sample);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_PROGRAMS_ACCOUNT_H_
