#include "godwit/experiment/templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "godwit/base/text.h"
#include "godwit/experiment/template.h"

namespace godwit::experiment {
namespace {

constexpr std::string_view kResource = "resource.";

bool same(const Diagnostic& a, const Diagnostic& b) {
  return a.position == b.position && a.message == b.message && a.text == b.text;
}

}  // namespace

TemplateMaker::TemplateMaker(const ExperimentSpec& spec, const std::vector<sites::Site>& sites, Known known_macros,
                             std::vector<std::string> macro_names, Diagnostics& diagnostics)
    : spec_(spec),
      sites_(sites),
      known_macros_(std::move(known_macros)),
      macro_names_(std::move(macro_names)),
      diagnostics_(diagnostics) {}

void TemplateMaker::add_once(const Diagnostic& diagnostic) {
  if (std::any_of(said_.begin(), said_.end(), [&](const Diagnostic& other) { return same(diagnostic, other); })) return;
  said_.push_back(diagnostic);
  diagnostics_.add(diagnostic);
}

dag::Template TemplateMaker::job(const std::string& name, const TemplateSpec& source, JobKind kind) {
  dag::Template out{name, {}};
  report_undefined_macros(source.common, known_macros_);
  for (const auto& [site, text] : source.at_site) report_undefined_macros(text, known_macros_);
  if (sites_.empty()) {
    report_grammar(source.common);
    for (const auto& [site, text] : source.at_site) report_grammar(text);
  }
  // Sites that fill the braces alike share a description.
  std::unordered_map<std::string, std::shared_ptr<const submit::Description>> made;
  for (const sites::Site& site : sites_) {
    submit::Description description = make(source.at(site.name), site);
    add_conventions(description, spec_, kind);
    std::shared_ptr<const submit::Description>& shared = made[description.text()];
    if (!shared) shared = std::make_shared<const submit::Description>(std::move(description));
    out.at_site.push_back(shared);
  }
  return out;
}

dag::Template TemplateMaker::service(const ServiceSpec& service, dag::SiteId site) {
  dag::Template out{service.name, {}};
  report_undefined_macros(service.submit, [](std::string_view) { return false; });
  if (sites_.empty()) {
    report_grammar(service.submit);
    return out;
  }
  out.at_site.resize(sites_.size());
  submit::Description description = make(service.submit, sites_[site]);
  add_secrets(description, spec_);
  out.at_site[site] = std::make_shared<const submit::Description>(std::move(description));
  return out;
}

submit::Description TemplateMaker::make(const SubmitText& source, const sites::Site& site) {
  Diagnostics faults;
  const std::string text = fill(source, site);
  submit::Description description = submit::Description::parse(text, source.origin, faults, source.indent);
  for (const Diagnostic& fault : faults.all()) add_once(fault);
  return description;
}

std::string TemplateMaker::fill(const SubmitText& source, const sites::Site& site) {
  return BraceTemplate(source).fill([&](const Brace& brace) { return brace_value(brace.name, brace.position, site); });
}

std::string TemplateMaker::brace_value(const std::string& name, const Position& position, const sites::Site& site) {
  if (name.starts_with(kResource)) {
    const std::string field = name.substr(kResource.size());
    if (auto text = resource_value(site, spec_.resource_defaults, field)) return *text;
    const std::vector<std::string>& fields = sites::resource_fields();
    const bool known = std::find(fields.begin(), fields.end(), field) != fields.end() ||
                       std::any_of(sites_.begin(), sites_.end(), [&](const sites::Site& other) {
                         return sites::resource_text(other, field).has_value();
                       });
    if (known) {
      add_once({Severity::error, position, fmt::format("site '{}' does not say its '{}'", site.name, field),
                '{' + name + '}', "say it there, or under 'resource_defaults' in the experiment"});
      return "";
    }
  }
  report_unknown_brace(name, position);
  return "";
}

void TemplateMaker::report_unknown_brace(const std::string& name, const Position& position) {
  std::vector<std::string> candidates;
  for (const std::string& field : sites::resource_fields()) candidates.push_back(std::string(kResource) + field);
  for (const sites::Site& site : sites_)
    for (const auto& [attribute, text] : site.attributes) candidates.push_back(std::string(kResource) + attribute);
  const bool is_macro = known_macros_(lower(name));
  std::string hint = is_macro ? fmt::format("write $({}) for the variable", name) : did_you_mean(name, candidates);
  if (hint.empty() && name.starts_with(kResource))
    hint =
        fmt::format("sites have: {}; others go under 'attributes' in sites.yaml", join(sites::resource_fields(), ", "));
  if (!hint.empty()) hint += "; ";
  add_once(
      {Severity::error, position, "nothing of this name to fill in", '{' + name + '}', hint + "write {{ for a brace"});
}

void TemplateMaker::report_grammar(const SubmitText& source) {
  Diagnostics faults;
  const std::string filled = BraceTemplate(source).fill([](const Brace&) { return "1"; });
  submit::Description::parse(filled, source.origin, faults, source.indent);
  for (const Diagnostic& fault : faults.all()) add_once(fault);
}

void TemplateMaker::report_undefined_macros(const SubmitText& source, const Known& known) {
  // Read with its braces in place, so that columns are those of the file.
  Diagnostics ignored;
  const auto description = submit::Description::parse(source.text, source.origin, ignored, source.indent);
  std::vector<std::string> candidates = macro_names_;
  for (const submit::Statement& statement : description.statements())
    if (statement.kind == submit::Statement::Kind::assign) candidates.push_back(statement.key);
  for (const submit::MacroUse& use : submit::undefined_macros(description, known)) {
    std::string hint = did_you_mean(use.name, candidates);
    if (hint.empty()) hint = fmt::format("define it under 'vars', or write $({}:default)", use.name);
    add_once({Severity::error, use.position, "nothing defines this macro", "$(" + use.name + ")", hint});
  }
}

}  // namespace godwit::experiment
