#include "godwit/sites/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "godwit/base/schema.h"
#include "godwit/base/text.h"
#include "godwit/base/units.h"
#include "godwit/sites/schema.h"

namespace godwit::sites {
namespace {

constexpr std::int64_t kMost32 = std::numeric_limits<std::int32_t>::max();

bool legal_name(std::string_view name) {
  const auto legal = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  return !name.empty() && name.front() != '.' && name.front() != '-' && std::all_of(name.begin(), name.end(), legal);
}

// Block text, or a list, as lines.
std::vector<std::string> lines_of(const std::vector<std::string>& texts) {
  std::vector<std::string> lines;
  for (const std::string& text : texts)
    for (const std::string_view line : split(text, '\n'))
      if (!trim(line).empty()) lines.emplace_back(line);
  return lines;
}

class SiteReader {
 public:
  SiteReader(const yaml::Node& node, std::string name, Position position, Diagnostics& diagnostics)
      : fields_(node, diagnostics, "site '" + name + "'"), diagnostics_(diagnostics) {
    site_.name = std::move(name);
    site_.position = std::move(position);
  }

  Site read() {
    read_resources();
    read_access();
    read_executor();
    site_.labels = fields_.texts("labels");
    site_.setup = lines_of(fields_.texts("setup"));
    if (const auto speed = positive("speed")) site_.speed = *speed;
    if (const auto power = positive("power")) site_.power_w = *power;
    read_attributes();
    schema::declare(site_keys(), fields_);
    fields_.finish();
    return std::move(site_);
  }

 private:
  void read_resources() {
    const auto count = [&](std::string_view key, std::int64_t least, std::uint32_t& into) {
      if (const auto value = fields_.integer(key, least, kMost32)) into = static_cast<std::uint32_t>(*value);
    };
    count("cpus", 1, site_.cpus);
    count("gpus", 0, site_.gpus);
    count("slots", 1, site_.slots);
    if (fields_.has("mem") && fields_.has("mem_mb"))
      diagnostics_.error(fields_.position("mem_mb"), "'mem' and 'mem_mb' are two names of one thing", {},
                         "leave one of them out");
    for (const std::string_view key : {"mem", "mem_mb"})
      if (const auto megabytes = fields_.memory_mb(key)) site_.mem_mb = static_cast<std::uint64_t>(*megabytes);
    if (const auto kilobytes = fields_.disk_kb("disk")) site_.disk_kb = static_cast<std::uint64_t>(*kilobytes);
    if (const auto megabytes = fields_.memory_mb("gpu_memory"))
      site_.gpu_memory_mb = static_cast<std::uint64_t>(*megabytes);
    site_.gpu_type = fields_.text("gpu_type").value_or("");
    site_.lifetime_s = fields_.duration_s("lifetime");
  }

  void read_access() {
    site_.queue = fields_.text("queue").value_or("");
    site_.allocation = fields_.text("allocation").value_or("");
    site_.login_name = fields_.text("login_name").value_or("");
    site_.login_node = fields_.text("login_node").value_or("");
    site_.two_factor_auth = fields_.boolean("two_factor_auth").value_or(false);
  }

  void read_executor() {
    const auto executor = fields_.text("executor");
    if (!executor) {
      const bool elsewhere = !site_.allocation.empty() || !site_.login_node.empty() || site_.two_factor_auth;
      site_.executor = elsewhere ? "annex" : "local";
      return;
    }
    site_.executor = *executor;
    const std::vector<std::string>& known = executor_names();
    if (std::find(known.begin(), known.end(), *executor) != known.end()) return;
    const std::string hint = did_you_mean(*executor, known);
    diagnostics_.error(fields_.position("executor"), "no such executor", *executor,
                       hint.empty() ? "known: " + join(known, ", ") : hint);
  }

  std::optional<double> positive(std::string_view key) {
    const auto value = fields_.number(key);
    if (!value || *value > 0) return value;
    diagnostics_.error(fields_.position(key), fmt::format("'{}' must be more than 0", key), fmt::format("{}", *value));
    return std::nullopt;
  }

  void read_attributes() {
    const yaml::Node* node = fields_.get("attributes");
    if (node == nullptr) return;
    yaml::Fields attributes(*node, diagnostics_, "'attributes'");
    for (const yaml::Entry& entry : node->entries) {
      const auto& fields = resource_fields();
      if (std::find(fields.begin(), fields.end(), entry.key) != fields.end())
        diagnostics_.error(entry.position, "the site itself has a field of this name", entry.key,
                           "write it one level up, or choose another name");
      else if (const auto text = attributes.text(entry.key))
        site_.attributes.emplace_back(entry.key, *text);
    }
  }

  yaml::Fields fields_;
  Diagnostics& diagnostics_;
  Site site_;
};

class CatalogueReader {
 public:
  CatalogueReader(const std::string& file, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    catalogue_.file = file;
  }

  Catalogue read(const yaml::Node& node) {
    if (node.is_mapping())
      for (const yaml::Entry& entry : node.entries) {
        if (!entry.key.starts_with("x-")) add(entry.value, entry.key, entry.position);
      }
    else if (node.is_sequence())
      for (const yaml::Node& item : node.items) add_item(item);
    else
      diagnostics_.error(node.position, "sites must be a mapping from name to fields, not " + node.kind_name(),
                         node.text, "write 'name: {cpus: 4, mem: 16GB}'");
    if (catalogue_.sites.empty() && !diagnostics_.has_errors())
      diagnostics_.error(node.position, "there is no site here", {},
                         "describe one, or leave the file out: then this machine is the site");
    return std::move(catalogue_);
  }

 private:
  void add_item(const yaml::Node& item) {
    const yaml::Node* name = item.find("name");
    if (name == nullptr || !name->is_scalar()) {
      diagnostics_.error(item.position, "each site of the list needs a 'name'");
      return;
    }
    yaml::Node fields = item;
    std::erase_if(fields.entries, [](const yaml::Entry& entry) { return entry.key == "name"; });
    add(fields, name->text, name->position);
  }

  void add(const yaml::Node& node, const std::string& name, const Position& position) {
    if (!legal_name(name))
      diagnostics_.error(position, "a site's name is made of letters, digits, '_', '-' and '.'", name);
    if (const auto [first, fresh] = lines_.emplace(name, position.line); !fresh)
      diagnostics_.error(position, "this site is here twice", name,
                         fmt::format("it is first at line {}", first->second));
    catalogue_.sites.push_back(SiteReader(node, name, position, diagnostics_).read());
  }

  Diagnostics& diagnostics_;
  Catalogue catalogue_;
  std::unordered_map<std::string, std::uint32_t> lines_;
};

}  // namespace

const Site* Catalogue::find(std::string_view name) const {
  for (const Site& site : sites)
    if (site.name == name) return &site;
  return nullptr;
}

Catalogue read(const yaml::Node& node, const std::string& file, Diagnostics& diagnostics) {
  return CatalogueReader(file, diagnostics).read(node);
}

Catalogue load(const std::string& path) {
  const yaml::Node root = yaml::load(path);
  Diagnostics diagnostics;
  // `sites:` at the top is the list, unless it is a site of that name.
  const yaml::Node* inner = root.find("sites");
  const bool wrapped =
      inner != nullptr && std::all_of(root.entries.begin(), root.entries.end(), [](const yaml::Entry& entry) {
        return entry.key == "sites" || entry.key.starts_with("x-");
      });
  Catalogue catalogue = read(wrapped ? *inner : root, path, diagnostics);
  diagnostics.throw_if_errors();
  return catalogue;
}

Catalogue built_in(const std::string& name) {
  Site site;
  site.name = name;
  return {{}, {std::move(site)}};
}

namespace {

struct ResourceField {
  std::string_view name;
  std::string (*text)(const Site&);  // "" where the site does not say
};

std::string unless_zero(std::uint64_t number) {
  return number == 0 ? "" : std::to_string(number);
}

// "40GB": the largest unit that comes out whole, as the submit language takes it.
std::string size_text(std::uint64_t kilobytes) {
  if (kilobytes == 0) return "";
  static constexpr std::string_view kUnits[] = {"KB", "MB", "GB"};
  std::size_t unit = 0;
  for (; unit + 1 < std::size(kUnits) && kilobytes % 1024 == 0; ++unit) kilobytes /= 1024;
  return fmt::format("{}{}", kilobytes, kUnits[unit]);
}

const ResourceField kResourceFields[] = {
    {"name", [](const Site& site) { return site.name; }},
    {"cpus", [](const Site& site) { return unless_zero(site.cpus); }},
    {"mem_mb", [](const Site& site) { return unless_zero(site.mem_mb); }},
    {"mem", [](const Site& site) { return size_text(site.mem_mb * 1024); }},
    {"disk", [](const Site& site) { return size_text(site.disk_kb); }},
    {"gpus", [](const Site& site) { return unless_zero(site.gpus); }},
    {"gpu_type", [](const Site& site) { return site.gpu_type; }},
    {"gpu_memory", [](const Site& site) { return unless_zero(site.gpu_memory_mb); }},
    {"slots", [](const Site& site) { return unless_zero(site.slots); }},
    {"lifetime", [](const Site& site) { return site.lifetime_s ? std::to_string(*site.lifetime_s) : ""; }},
    {"queue", [](const Site& site) { return site.queue; }},
    {"allocation", [](const Site& site) { return site.allocation; }},
    {"login_name", [](const Site& site) { return site.login_name; }},
    {"login_node", [](const Site& site) { return site.login_node; }},
};

}  // namespace

std::optional<std::string> resource_text(const Site& site, std::string_view field) {
  for (const ResourceField& known : kResourceFields)
    if (known.name == field) {
      std::string text = known.text(site);
      return text.empty() ? std::nullopt : std::optional(std::move(text));
    }
  for (const auto& [name, text] : site.attributes)
    if (name == field) return text;
  return std::nullopt;
}

const std::vector<std::string>& resource_fields() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const ResourceField& field : kResourceFields) out.emplace_back(field.name);
    return out;
  }();
  return names;
}

}  // namespace godwit::sites
