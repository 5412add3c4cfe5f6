// One end of a simulated connection: a program, and the socket that it uses as
// if its calls blocked.
#ifndef WIRETOLL_HARNESS_NS3_TCP_END_H_
#define WIRETOLL_HARNESS_NS3_TCP_END_H_

#include <ns3/address.h>
#include <ns3/packet.h>
#include <ns3/socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/ns3/tcp_trace.h"
#include "harness/ns3/world.h"

namespace wiretoll::sim {

class TcpEnd {
 public:
  // `program` and `changed` outlive it. Calls `changed` when it has finished or
  // failed.
  TcpEnd(TcpProgram& program, std::int64_t read_bytes, bool carry_bytes,
         std::function<void()> changed)
      : program_(program),
        read_bytes_(static_cast<std::uint32_t>(read_bytes)),
        carry_bytes_(carry_bytes),
        changed_(std::move(changed)) {}
  TcpEnd(const TcpEnd&) = delete;
  TcpEnd& operator=(const TcpEnd&) = delete;

  // `socket` listens, or connects when `Connect` is called.
  void Listen(const ns3::Ptr<ns3::Socket>& socket);
  void Prepare(const ns3::Ptr<ns3::Socket>& socket);
  void Connect(const ns3::Address& peer);

  // It has shut its side, and the peer its own.
  [[nodiscard]] bool finished() const { return shut_ && peer_shut_; }
  [[nodiscard]] bool stood() const { return stood_; }
  // Empty: nothing went wrong.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::optional<std::int64_t> connect_ns() const {
    return connect_ns_;
  }
  // As the peer shut; before that, up to now.
  [[nodiscard]] TcpEndFigures Figures() const;

 private:
  void Follow(const ns3::Ptr<ns3::Socket>& socket);
  void Accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address& peer);
  void Connected(ns3::Ptr<ns3::Socket> socket);
  void NotConnected(ns3::Ptr<ns3::Socket> socket);
  void PeerShut(ns3::Ptr<ns3::Socket> socket);
  void Broken(ns3::Ptr<ns3::Socket> socket);
  void Readable(ns3::Ptr<ns3::Socket> socket);
  void Writable(ns3::Ptr<ns3::Socket> socket, std::uint32_t room);

  void Stand();
  void Fail(const std::string& what);
  // Asks the program and does what it says until that has to wait.
  void Go();
  bool Do(const Action& action);
  bool Wait(const Action& action);
  void Due();
  bool Write();
  bool Read();
  ns3::Ptr<ns3::Packet> Piece(std::int64_t bytes);
  void Shut();

  TcpProgram& program_;
  const std::uint32_t read_bytes_;
  const bool carry_bytes_;
  const std::function<void()> changed_;
  TcpTrace trace_;
  ns3::Ptr<ns3::Socket> socket_;
  std::int64_t called_ns_ = 0;
  std::optional<std::int64_t> connect_ns_;
  std::optional<TcpEndFigures> at_end_;
  std::optional<Action> waiting_;  // For its time.
  std::int64_t write_bytes_ = 0;   // Of the write under way; 0: none is.
  std::int64_t written_bytes_ = 0;
  std::int64_t received_bytes_ = 0;
  bool reading_ = false;
  bool going_ = false;
  bool stood_ = false;
  bool end_told_ = false;
  bool peer_shut_ = false;
  bool shut_ = false;
  std::string error_;
  std::vector<unsigned char> room_;
};

}  // namespace wiretoll::sim

#endif  // WIRETOLL_HARNESS_NS3_TCP_END_H_
