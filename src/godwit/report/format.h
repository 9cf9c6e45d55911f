// Numbers and text as people read them in reports.
#pragma once

#include <string>
#include <string_view>

#include "godwit/base/printable.h"

namespace godwit::report {

// Four significant digits, no exponent between 0.0001 and 1,000,000: "0.1235", "1235", "1.235e-07", "not a number",
// "infinite".
std::string format_number(double value);
// With its sign always, and a true minus: "+0.012", "−0.012".
std::string format_signed(double value);
// Both with the places that `spread` can carry: two significant digits of it. "+0.049" beside a spread of 0.044.
std::string format_number(double value, double spread);
std::string format_signed(double value, double spread);
// The spread with two significant digits, the mean to the same place: "3.178 ± 0.021".
std::string format_mean_sd(double mean, double sd);

using godwit::printable;
// printable() for element content and quoted attribute values of HTML and SVG: & < > " ' are escaped.
std::string escape_xml(std::string_view text);

// Columns that UTF-8 text takes in a terminal, a code point each.
std::size_t text_columns(std::string_view text);
// At most `columns` long, cut text ends in "…".
std::string shorten(std::string_view text, std::size_t columns);

}  // namespace godwit::report
