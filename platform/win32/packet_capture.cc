#include "platform/packet_capture.h"

#include <boost/system/error_code.hpp>
#include <utility>

namespace wiretoll {

// Windows has no capture without a driver to be installed (Npcap) or a tool
// that an administrator starts (pktmon): the other end captures, or they do.
struct PacketCapture::State {
  std::string interface_name;
};

Result<PacketCapture> PacketCapture::Open(const CaptureSpec& /*spec*/) {
  return make_error_code(boost::system::errc::operation_not_supported);
}

PacketCapture::PacketCapture(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
PacketCapture::PacketCapture(PacketCapture&&) noexcept = default;
PacketCapture::~PacketCapture() = default;

const std::string& PacketCapture::interface_name() const {
  return state_->interface_name;
}

Result<std::int64_t> PacketCapture::Read(std::chrono::milliseconds /*patience*/,
                                         const FrameSink& /*take*/) {
  return make_error_code(boost::system::errc::operation_not_supported);
}

Result<CaptureCounts> PacketCapture::Counts() {
  return make_error_code(boost::system::errc::operation_not_supported);
}

}  // namespace wiretoll
