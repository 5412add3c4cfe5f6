// The tables of an export as RFC 4180 files.
#ifndef WIRETOLL_HARNESS_EXPORT_CSV_FILES_H_
#define WIRETOLL_HARNESS_EXPORT_CSV_FILES_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/export/sqlite.h"

namespace wiretoll {

// In quotes where RFC 4180 wants them. Before a first = + - @, which a
// spreadsheet takes for a formula, goes an apostrophe (also before one that
// stands there already, so that reading takes away exactly what was added).
std::string CsvText(std::string_view text);

// Reads what files of a former export the folder has into the tables, which
// must be there. kUsage names file and line of what is none of an export's.
Outcome<Done> LoadCsvFiles(const std::filesystem::path& folder,
                           Database& database);

// Writes every table to TABLE.csv, by renaming whole files, "trials" last: what
// has a row there has all the others. kNothingRan: a file cannot be written;
// none was replaced then, but where renaming itself fails.
Outcome<Done> WriteCsvFiles(Database& database,
                            const std::filesystem::path& folder);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_EXPORT_CSV_FILES_H_
