// Small helpers for sentences that people read.
#ifndef WIRETOLL_HARNESS_BASE_WORDS_H_
#define WIRETOLL_HARNESS_BASE_WORDS_H_

#include <string>
#include <string_view>

namespace wiretoll {

// "1 trial", "2 trials".
std::string Count(long long number, std::string_view noun);

// "1,474,560": counts this long are read wrong otherwise.
std::string GroupDigits(long long number);

// The first `most` bytes of what a stranger sent, in double quotes, safe on a
// terminal: printable ASCII as it is, all else as \n, \" or \x1b; "..." after
// the quotes where bytes were left out.
std::string QuoteBytes(std::string_view bytes, std::size_t most = 40);

// Behind what `text` says already: "one; other".
void AddClause(std::string_view clause, std::string& text);

}  // namespace wiretoll

#endif  // WIRETOLL_HARNESS_BASE_WORDS_H_
