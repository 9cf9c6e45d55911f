#include <algorithm>

#include "godwit/base/text.h"
#include "godwit/submit/description.h"
#include "godwit/submit/paths.h"

namespace godwit::submit {
namespace {

class DemandFinder {
 public:
  DemandFinder(const Description& description, const Lookup& variables)
      : description_(description), values_(evaluate(description, variables)) {}

  std::vector<Demand> run() {
    universe();
    for (const std::string_view key : {"container_image", "docker_image", "transfer_plugins", "use_oauth_services",
                                       "output_destination", "checkpoint_destination", "shell"})
      if (const auto value = values_.get(key); value && !trim(*value).empty()) demand(key, *value);
    for (const std::string_view key : {"executable", "input", "output", "error"})
      if (const auto value = values_.get(key); value && is_remote(trim(*value))) demand(key, *value);
    for (const std::string& entry : file_list(values_.get("transfer_input_files").value_or("")))
      if (is_remote(entry)) demand("transfer_input_files", entry);
    remaps();
    return std::move(demands_);
  }

 private:
  static bool is_remote(std::string_view text) { return is_url(text) && !file_url_path(text); }

  void demand(std::string_view key, std::string_view value) {
    const Statement* statement = description_.last(key);
    demands_.push_back(
        {std::string(key) + " = " + std::string(trim(value)), statement ? statement->value_position : Position{}});
  }

  void universe() {
    const std::string value = lower(trim(values_.get("universe").value_or("")));
    if (!value.empty() && value != "vanilla" && value != "local" && value != "5" && value != "12")
      demand("universe", value);
  }

  void remaps() {
    const std::string remaps = string_literal(values_.get("transfer_output_remaps").value_or(""));
    for (const std::string_view remap : split(remaps, ';'))
      if (const std::size_t equals = remap.find('='); equals != std::string_view::npos)
        if (is_remote(trim(remap.substr(equals + 1)))) demand("transfer_output_remaps", remap);
  }

  const Description& description_;
  Evaluated values_;
  std::vector<Demand> demands_;
};

}  // namespace

std::vector<Demand> demands_beyond_local(const Description& description, const Lookup& variables) {
  return DemandFinder(description, variables).run();
}

}  // namespace godwit::submit
