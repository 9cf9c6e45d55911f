// Metrics files: one JSON object per line, added at the end.
#pragma once

#include <string>

namespace protein_lm {

// Creates the file where needed; an empty path means nowhere. Throws godwit::SystemError.
void append_line(const std::string& path, const std::string& line);

}  // namespace protein_lm
