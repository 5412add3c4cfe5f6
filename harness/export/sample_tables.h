// What samples.jsonl says, as rows of all the other tables.
#ifndef WIRETOLL_HARNESS_EXPORT_SAMPLE_TABLES_H_
#define WIRETOLL_HARNESS_EXPORT_SAMPLE_TABLES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/export/schema.h"
#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"

namespace wiretoll {

std::vector<SqlTable> SampleTableHeads();

// Whose samples are written.
struct SampleSource {
  std::int64_t run = 0;  // Its key.
  const RunRecord& record;
  std::string file;  // For messages.
};

// Writes the samples of one run, inside a transaction of its caller's.
class SampleTables {
 public:
  // `database` and the record must outlive it.
  static Outcome<SampleTables> Open(Database& database, SampleSource source);
  SampleTables(SampleTables&&) noexcept;
  SampleTables& operator=(SampleTables&&) noexcept;
  ~SampleTables();

  // False if the trial is there already, and was left as it is. kUsage: its
  // place in the run (`order`) is another trial's. After a failure nothing more
  // is to be written: the transaction may have ended with it.
  Outcome<bool> Write(const Sample& sample);

 private:
  class Writer;
  explicit SampleTables(std::unique_ptr<Writer> writer);
  std::unique_ptr<Writer> writer_;
};

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_EXPORT_SAMPLE_TABLES_H_
