// The agents of a run: started, greeted, and started again when they die.
#ifndef WIRETOLL_HARNESS_RUN_CREW_H_
#define WIRETOLL_HARNESS_RUN_CREW_H_

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/run/agent_link.h"
#include "harness/run/hosts.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {

class Crew {
 public:
  // A silent agent is waited for quite a while. Either may be empty.
  struct Waiting {
    // Told whom we wait for, and until when at most: "host b's agent".
    std::function<void(const std::string& what, SteadyTime until)> begins;
    std::function<void()> ends;
  };
  // `cancelled` ends a wait before its time.
  Crew(boost::asio::io_context& io, const std::vector<Host>& hosts,
       HandleGuard guard, std::function<bool()> cancelled = {},
       Waiting waiting = {});

  // Starts every agent and asks what its host is. Hosts that did not answer
  // have no stack, and trouble(name) says why.
  std::vector<RecordedHost> Muster();

  // A link that is alive, started anew if need be; nullptr if the host cannot
  // be had, and trouble(name) says why. A host that failed to start three
  // times in a row is given up.
  AgentLink* Get(const std::string& name);

  [[nodiscard]] const Host& host(const std::string& name) const;
  [[nodiscard]] const std::string& trouble(const std::string& name) const;
  // What its agent last greeted with, of whichever version; empty: never did.
  [[nodiscard]] const std::optional<Hello>& greeting(
      const std::string& name) const;

 private:
  struct Member {
    Host host;
    std::unique_ptr<AgentLink> link;
    std::string trouble;
    std::optional<Hello> greeting;
    int failed_starts = 0;
  };
  Outcome<Reply> AskMember(Member& member, Request request,
                           std::chrono::seconds patience);
  Outcome<Hello> Start(Member& member);
  RecordedHost Introduce(Member& member);

  boost::asio::io_context& io_;
  HandleGuard guard_;
  std::function<bool()> cancelled_;
  Waiting waiting_;
  std::vector<std::string> order_;
  std::map<std::string, Member> members_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_RUN_CREW_H_
