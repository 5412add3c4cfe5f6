// What tests of exports share: runs, and what a database holds.
#ifndef WIRETOLL_TESTS_EXPORT_TABLES_H_
#define WIRETOLL_TESTS_EXPORT_TABLES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/export/export.h"
#include "harness/samples/run_folder.h"
#include "harness/samples/sample.h"

namespace wiretoll {

// Rows of a query, values as text, a NULL as "NULL".
using QueryRows = std::vector<std::vector<std::string>>;

// Fails the test if the file or the query is wrong.
QueryRows Query(const std::filesystem::path& file, const std::string& query);
// Of a query that gives one value; "nothing" if it gives none.
std::string Value(const std::filesystem::path& file, const std::string& query);

// Every row of every table of ours, one a line; without the folders' names.
std::string AllRows(const std::filesystem::path& file);

// Fails the test if it fails.
std::vector<ExportedRun> MustExport(
    const std::vector<std::filesystem::path>& runs,
    const std::filesystem::path& file);
std::vector<ExportedRun> MustExportCsv(
    const std::vector<std::filesystem::path>& runs,
    const std::filesystem::path& folder);

// A run folder with these samples, which must not exist.
void WriteRunOf(const std::filesystem::path& folder, const RunRecord& record,
                const std::vector<Sample>& samples);

}  // namespace wiretoll

#endif  // WIRETOLL_TESTS_EXPORT_TABLES_H_
