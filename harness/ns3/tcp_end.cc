#include "harness/ns3/tcp_end.h"

#include <ns3/nstime.h>
#include <ns3/simulator.h>

#include <algorithm>

#include "harness/ns3/topology.h"

namespace wiretoll::sim {
void TcpEnd::Listen(const ns3::Ptr<ns3::Socket>& socket) {
  trace_.CountSegments(socket);
  socket->SetAcceptCallback(
      ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
      ns3::MakeCallback(&TcpEnd::Accepted, this));
  socket->Listen();
}

void TcpEnd::Prepare(const ns3::Ptr<ns3::Socket>& socket) {
  trace_.CountSegments(socket);
  Follow(socket);
  socket->SetConnectCallback(ns3::MakeCallback(&TcpEnd::Connected, this),
                             ns3::MakeCallback(&TcpEnd::NotConnected, this));
}

void TcpEnd::Connect(const ns3::Address& peer) {
  called_ns_ = NowNs();
  if (socket_->Connect(peer) != 0) Fail("the simulated host cannot connect");
}

TcpEndFigures TcpEnd::Figures() const {
  TcpEndFigures figures;
  if (at_end_) {
    figures = *at_end_;
  } else if (socket_) {
    figures = trace_.Figures(socket_);
  }
  figures.bytes_received = received_bytes_;
  return figures;
}

void TcpEnd::Follow(const ns3::Ptr<ns3::Socket>& socket) {
  socket_ = socket;
  trace_.FollowConnection(socket);
  socket->SetRecvCallback(ns3::MakeCallback(&TcpEnd::Readable, this));
  socket->SetSendCallback(ns3::MakeCallback(&TcpEnd::Writable, this));
  socket->SetCloseCallbacks(ns3::MakeCallback(&TcpEnd::PeerShut, this),
                            ns3::MakeCallback(&TcpEnd::Broken, this));
}

// ns-3's callbacks are of these very types.
// NOLINTBEGIN(performance-unnecessary-value-param)
void TcpEnd::Accepted(ns3::Ptr<ns3::Socket> socket,
                      const ns3::Address& /*peer*/) {
  if (socket_) return;  // There is only one that connects.
  Follow(socket);
  Stand();
}

void TcpEnd::Connected(ns3::Ptr<ns3::Socket> /*socket*/) {
  connect_ns_ = NowNs() - called_ns_;
  Stand();
}

void TcpEnd::NotConnected(ns3::Ptr<ns3::Socket> /*socket*/) {
  Fail("the simulated connection was not made: no answer to its SYN");
}

void TcpEnd::PeerShut(ns3::Ptr<ns3::Socket> /*socket*/) {
  if (peer_shut_) return;
  peer_shut_ = true;
  at_end_ = trace_.Figures(socket_);
  Go();
  changed_();
}

void TcpEnd::Broken(ns3::Ptr<ns3::Socket> /*socket*/) {
  Fail("the simulated connection broke: reset, or retransmitted in vain");
}

void TcpEnd::Readable(ns3::Ptr<ns3::Socket> /*socket*/) { Go(); }

void TcpEnd::Writable(ns3::Ptr<ns3::Socket> /*socket*/,
                      std::uint32_t /*room*/) {
  Go();
}
// NOLINTEND(performance-unnecessary-value-param)

void TcpEnd::Stand() {
  stood_ = true;
  trace_.Stood();
  Go();
}

void TcpEnd::Fail(const std::string& what) {
  if (error_.empty()) error_ = what;
  changed_();
}

// Called out of ns-3's events, some of which come in the middle of our own
// calls.
void TcpEnd::Go() {
  if (going_ || !stood_) return;
  going_ = true;
  while (!shut_ && !waiting_) {
    if (write_bytes_ > 0) {
      if (!Write()) break;
    } else if (reading_) {
      if (!Read()) break;
    } else if (!Do(program_.Next(NowNs()))) {
      break;
    }
  }
  going_ = false;
}

// False if it has to wait for its time.
bool TcpEnd::Do(const Action& action) {
  if (action.kind == Action::Kind::kRead) {
    reading_ = true;
    return true;
  }
  if (action.due_ns > NowNs()) return Wait(action);
  if (action.kind == Action::Kind::kShut) {
    Shut();
  } else {
    write_bytes_ = action.bytes;
    written_bytes_ = 0;
  }
  return true;
}

bool TcpEnd::Wait(const Action& action) {
  waiting_ = action;
  ns3::Simulator::Schedule(
      ns3::NanoSeconds(static_cast<std::uint64_t>(action.due_ns - NowNs())),
      &TcpEnd::Due, this);
  return false;
}

void TcpEnd::Due() {
  const Action action = *waiting_;
  waiting_.reset();
  Do(action);
  Go();
}

// False if the send buffer is full: ns-3 says when it no longer is. It takes a
// piece whole or not at all.
bool TcpEnd::Write() {
  while (written_bytes_ < write_bytes_) {
    const std::int64_t piece = std::min<std::int64_t>(
        write_bytes_ - written_bytes_, std::int64_t{socket_->GetTxAvailable()});
    if (piece <= 0 || socket_->Send(Piece(piece)) != piece) return false;
    written_bytes_ += piece;
  }
  program_.Wrote(NowNs(), write_bytes_);
  write_bytes_ = 0;
  return true;
}

// False if there is nothing yet.
bool TcpEnd::Read() {
  const ns3::Ptr<ns3::Packet> came = socket_->Recv(read_bytes_, 0);
  if (came && came->GetSize() > 0) {
    const std::uint32_t bytes = came->GetSize();
    if (carry_bytes_) {
      room_.resize(bytes);
      came->CopyData(room_.data(), bytes);
    }
    received_bytes_ += bytes;
    reading_ = false;
    program_.Read(NowNs(), bytes, carry_bytes_ ? room_.data() : nullptr);
    return true;
  }
  if (!peer_shut_ || end_told_) return false;
  end_told_ = true;
  reading_ = false;
  program_.End(NowNs());
  return true;
}

ns3::Ptr<ns3::Packet> TcpEnd::Piece(std::int64_t bytes) {
  const auto size = static_cast<std::uint32_t>(bytes);
  if (!carry_bytes_) return ns3::Create<ns3::Packet>(size);
  return ns3::Create<ns3::Packet>(program_.Payload(written_bytes_), size);
}

void TcpEnd::Shut() {
  shut_ = true;
  socket_->Close();
  changed_();
}

}  // namespace wiretoll::sim
