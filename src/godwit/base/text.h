// Small text work: trimming, splitting, ASCII case folding, names that are nearly right.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace godwit {

// Without the ASCII white space at both ends.
std::string_view trim(std::string_view text);

// The parts between separators, empty ones kept: split("a,,b", ',') is {"a", "", "b"}; split("", ',') is {""}.
// The parts are views into `text`.
std::vector<std::string_view> split(std::string_view text, char separator);
// The runs of characters that are not ASCII white space.
std::vector<std::string_view> split_words(std::string_view text);

// ASCII only: bytes above 127 stay as they are.
std::string lower(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);

// The text as one word of a POSIX shell, in single quotes where it needs them.
std::string shell_word(std::string_view text);

std::string join(std::span<const std::string> parts, std::string_view separator);

// Whether the bytes are well-formed UTF-8 (RFC 3629); otherwise the offset of the first byte that is not.
std::optional<std::size_t> first_bad_utf8(std::string_view text);

// The candidate that `name` was probably meant to be: the least edit distance (insert, delete, replace, swap of
// neighbours: Damerau's restricted distance) ignoring case, at most a third of the name's length and at least 1.
// nullopt where none is that near. The earlier candidate wins a tie.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);
std::optional<std::string> nearest(std::string_view name, std::initializer_list<std::string_view> candidates);

// "did you mean 'cpus'?", or "" where no candidate is near: what goes into a diagnostic's hint.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace godwit
