// What serves where namespaces are not to be had, on any system.
#include "harness/lab/lab.h"

namespace wiretoll {

LoopbackLab MakeLoopbackLab(const LabSpec& spec) {
  LoopbackLab lab;
  const std::string agent = std::filesystem::absolute(spec.agent).string();
  lab.hosts = {{"loopback-1", "127.0.0.1", "", {agent}},
               {"loopback-2", "127.0.0.2", "", {agent}}};
  lab.link.kind = "loopback";
  lab.link.description = "loopback on this machine (not a network)";
  lab.link.framing = "none";
  const std::string not_there = "not set: loopback is not a network";
  if (spec.link.rate) lab.link.settings["rate"] = not_there;
  if (spec.link.delay > Nanoseconds{0}) lab.link.settings["delay"] = not_there;
  if (spec.link.loss > 0) lab.link.settings["loss"] = not_there;
  if (spec.link.jitter > Nanoseconds{0})
    lab.link.settings["jitter"] = not_there;
  if (spec.link.duplicate > 0) lab.link.settings["duplicate"] = not_there;
  if (spec.link.reorder > 0) lab.link.settings["reorder"] = not_there;
  // Under another name: claims ask whether there is a "router".
  if (spec.link.router) lab.link.settings["router asked"] = not_there;
  return lab;
}

}  // namespace wiretoll
