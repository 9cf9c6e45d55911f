// Paths and lists of files as a description writes them, kept inside where they belong.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace godwit::submit {

// A relative path without "." steps and doubled slashes; nullopt where it is empty, absolute, has a ".." step or is
// only ".": such a name would leave the sandbox.
std::optional<std::string> sandbox_name(std::string_view path);
bool has_parent_step(std::string_view path);
std::string_view last_component(std::string_view path);

// "osdf://…", "file://…": a scheme of letters, digits, '+', '-' and '.' before "://".
bool is_url(std::string_view text);
// The path of a file:// URL on this machine; nullopt for any other text.
std::optional<std::string> file_url_path(std::string_view text);
// The path as it stands in a URL: what is neither a letter, a digit nor one of /-._~ becomes %XX.
std::string url_path(std::string_view path);
// What a URL's file is called: its last component without query and fragment.
std::string_view url_file_name(std::string_view url);

// The entries of a comma-separated list, trimmed, empty ones left out; double quotes around one go. A value that is
// only "" is an empty list.
std::vector<std::string> file_list(std::string_view value);
// What stands between the double quotes of a string attribute; the text itself where there are none.
std::string string_literal(std::string_view value);

}  // namespace godwit::submit
