// Where the agents of the two simulated hosts meet: a Unix-domain socket in a
// folder that both know. The receiver waits there from its trial on; the sender
// comes when it is told to go, is given the receiver's request, and brings back
// the receiver's half of the result:
//
//   sender                                  receiver
//   {"from":"10.1.1.1","port":40001,
//    "to_port":7001,"world":[...]}
//                                           its trial request, a line of
//                                           docs/protocol.md; or a reply with
//                                           an error
//   the receiver's last reply, likewise
//                                           closes: it has it
//
// Whoever goes away before tells the other so by that.
#ifndef WIRETOLL_HARNESS_NS3_MEETING_H_
#define WIRETOLL_HARNESS_NS3_MEETING_H_

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/streambuf.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/agent/protocol.h"
#include "harness/base/result.h"
#include "harness/ns3/world.h"

namespace wiretoll {

using MeetingSocket = boost::asio::local::stream_protocol::socket;
using MeetingAcceptor = boost::asio::local::stream_protocol::acceptor;
using MeetingEndpoint = boost::asio::local::stream_protocol::endpoint;

// Of the receiver that has this address. The failure says that the folder's
// name is too long for a socket's.
Outcome<MeetingEndpoint> MeetingPlace(const std::filesystem::path& folder,
                                      const std::string& address);

// Who comes, and what world it simulates.
struct Greeting {
  std::string from;           // The sender's address
  std::uint16_t port = 0;     // and port.
  std::uint16_t to_port = 0;  // The receiver's.
  std::vector<std::string> world;
};

std::string EncodeGreeting(const Greeting& greeting);
Outcome<Greeting> DecodeGreeting(const std::string& line);

// Why `receiver`, waiting at `port` in `world`, has nothing to do with this
// sender; nothing if it is the one that was announced.
std::optional<std::string> WhyNotMet(const Greeting& greeting,
                                     const TrialRequest& receiver,
                                     std::uint16_t port,
                                     const std::vector<std::string>& world);

// Lines over one meeting's socket. A line longer than kMaxLineBytes counts as
// the other's going away.
class MeetingLines : public std::enable_shared_from_this<MeetingLines> {
 public:
  explicit MeetingLines(MeetingSocket socket);

  // Nothing: the other went away. Not called after Close().
  using LineHandler = std::function<void(std::optional<std::string>)>;
  void Read(LineHandler handler);
  void Write(const std::string& line);
  void Close();

 private:
  MeetingSocket socket_;
  boost::asio::streambuf buffer_;
  bool closed_ = false;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_NS3_MEETING_H_
