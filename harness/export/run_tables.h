// What run.json says, as rows: runs, studies, link_settings, hosts, host_facts.
#ifndef WIRETOLL_HARNESS_EXPORT_RUN_TABLES_H_
#define WIRETOLL_HARNESS_EXPORT_RUN_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/export/schema.h"
#include "harness/samples/run_folder.h"

namespace wiretoll {

std::vector<SqlTable> RunTableHeads();

// A value as the tables have it: true is "on", as studies spell it.
void AddOptionValue(const OptionValue& value, Statement& statement);

// Writes the run's rows, unless they are there, and gives its key. `folder` is
// what people will know it by. kUsage: the file holds another run of that key.
// Inside a transaction.
Outcome<std::int64_t> WriteRun(Database& database, const RunRecord& record,
                               const std::string& folder);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_EXPORT_RUN_TABLES_H_
