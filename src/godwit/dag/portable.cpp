#include "godwit/dag/portable.h"

#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/submit/paths.h"

namespace godwit::dag {
namespace {

// A number, decimals allowed, and K, M, G or T, with a B or without.
bool is_condor_amount(std::string_view text) {
  std::size_t end = text.find_first_not_of("0123456789.");
  if (end == 0 || text.starts_with('.')) return false;
  if (end == std::string_view::npos) return true;
  const std::string unit = lower(trim(text.substr(end)));
  return unit.size() <= 2 && std::string_view("kmgt").find(unit[0]) != std::string_view::npos &&
         (unit.size() == 1 || unit[1] == 'b');
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

template <typename Reads, typename Parse>
void to_number(submit::Description& description, std::string_view key, Reads condor_reads, Parse parse) {
  description.rewrite(key, [&](const std::string& value) {
    if (value.find('$') != std::string::npos || condor_reads(value)) return value;
    const auto number = parse(value);
    return number ? std::to_string(*number) : value;
  });
}

// `getenv` with the secrets among what it names.
void get_secrets_from_environment(submit::Description& description) {
  const submit::Statement* secrets = description.last("+GodwitSecrets");
  if (secrets == nullptr) return;
  const std::string names = submit::string_literal(secrets->value);
  if (!description.has("getenv")) return description.set("getenv", names);
  description.rewrite("getenv", [&](const std::string& value) {
    const std::string text = lower(trim(value));
    if (text == "true" || text == "yes") return value;
    return text == "false" || text == "no" || text.empty() ? names : value + ", " + names;
  });
}

}  // namespace

std::string portable_text(const submit::Description& description, std::string_view directory) {
  submit::Description portable = description;
  get_secrets_from_environment(portable);
  to_number(portable, "request_memory", is_condor_amount, parse_memory_mb);
  to_number(portable, "request_disk", is_condor_amount, parse_disk_kb);
  for (const std::string_view key : {"allowed_job_duration", "allowed_execute_duration", "job_max_vacate_time"})
    to_number(portable, key, is_number, parse_duration_s);
  portable.rewrite("preserve_relative_paths", [](const std::string& value) {
    return equal_ignoring_case(value, "yes") ? "True" : equal_ignoring_case(value, "no") ? "False" : value;
  });
  const std::string text = portable.text(false);
  const auto needs = [used = lower(text)](std::string_view macro) { return used.find(macro) != std::string::npos; };
  std::string definitions;
  if (needs("$(godwit_attempt")) definitions += "godwit_attempt = $(RETRY)\n";
  if (needs("$(godwit_directory_url")) definitions += "godwit_directory_url = " + submit::url_path(directory) + "\n";
  return definitions + text;
}

}  // namespace godwit::dag
