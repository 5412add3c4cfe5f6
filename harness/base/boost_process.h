// Boost.Process as we use it, wherever this Boost keeps it.
//
// Header-only, but searching the PATH needs Boost.Filesystem: whoever includes
// this links Boost::filesystem.
#ifndef WIRETOLL_HARNESS_BASE_BOOST_PROCESS_H_
#define WIRETOLL_HARNESS_BASE_BOOST_PROCESS_H_

// From Boost 1.86 on, the interface this is written for lives in a folder and
// a namespace of its own.
#if __has_include(<boost/process/v1/child.hpp>)
#include <boost/process/v1/args.hpp>
#include <boost/process/v1/async_pipe.hpp>
#include <boost/process/v1/child.hpp>
#include <boost/process/v1/error.hpp>
#include <boost/process/v1/exe.hpp>
#include <boost/process/v1/group.hpp>
#include <boost/process/v1/handles.hpp>
#include <boost/process/v1/io.hpp>
#include <boost/process/v1/pipe.hpp>
#include <boost/process/v1/search_path.hpp>
#include <boost/process/v1/start_dir.hpp>
namespace wiretoll {
namespace bp = boost::process::v1;
}  // namespace wiretoll
#else
#include <boost/process/args.hpp>
#include <boost/process/async_pipe.hpp>
#include <boost/process/child.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/group.hpp>
#include <boost/process/handles.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <boost/process/search_path.hpp>
#include <boost/process/start_dir.hpp>
namespace wiretoll {
namespace bp = boost::process;
}  // namespace wiretoll
#endif

#endif  // WIRETOLL_HARNESS_BASE_BOOST_PROCESS_H_
