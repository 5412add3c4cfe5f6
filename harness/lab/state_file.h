// What stands on this machine, written down so that the next start can clear
// away what a killed one left.
#ifndef WIRETOLL_HARNESS_LAB_STATE_FILE_H_
#define WIRETOLL_HARNESS_LAB_STATE_FILE_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/lab/lab.h"

namespace wiretoll {

// A process and when it started: a pid alone may be another's by now.
struct LabOwner {
  std::int64_t pid = 0;
  std::int64_t started_ticks = 0;  // Since boot.
};

// This process. kNothingRan: no /proc.
Outcome<LabOwner> ThisProcess();
// A zombie counts as dead: whoever should have reaped it may be late.
bool IsAlive(const LabOwner& owner);

// One lab as its file has it. The file's name is the id and names the owner.
struct LabRecord {
  std::string id;  // "4711-123456", the owner's second one "4711-123456-2"
  LabOwner owner;
  bool kept = false;
  // Of these, only names that begin with Prefix(id) are ever deleted.
  std::vector<std::string> namespaces;
  std::vector<LabHost> hosts;
  std::string link;
  // Of a lab of containers: the engine as it is called, and likewise only
  // names that begin with the prefix.
  std::vector<std::string> engine;
  std::vector<std::string> containers;
  std::string network;
};

// "wiretoll-4711", for the second lab "wiretoll-4711.2".
std::string NamespacePrefix(const LabRecord& record);

// Takes an id that is free and writes the first record, as yet empty.
// kNothingRan: no folder could be written.
Outcome<LabRecord> CreateRecord(const LabOwner& owner);
// Replaces the file whole.
Outcome<Done> WriteRecord(const LabRecord& record);
// With the lab's folder.
void RemoveRecord(const LabRecord& record);
// A folder for the files that a lab needs as long as it stands, made where it
// is not there. kNothingRan: it cannot be.
Outcome<std::filesystem::path> LabFolder(const LabRecord& record);
// All of them, dead or alive, oldest name first. A torn file gives a record
// without namespaces.
Outcome<std::vector<LabRecord>> ReadRecords();

// True if `ip netns` knows the name.
bool NamespaceExists(const std::string& name);

// Removes the record's containers, ends what still runs inside its namespaces
// after `grace`, deletes them and then the record. kNothingRan: one would not
// go; the record stays.
Outcome<Done> ClearAway(const LabRecord& record,
                        std::chrono::milliseconds grace);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_LAB_STATE_FILE_H_
