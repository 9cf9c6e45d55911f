// The experiment's submit templates at its sites: braces filled, conventions added.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/dag/graph.h"
#include "godwit/experiment/conventions.h"
#include "godwit/experiment/spec.h"
#include "godwit/sites/site.h"

namespace godwit::experiment {

// Fills in templates for the sites, in their order, and checks them: braces, grammar, macros that nothing defines.
// Faults go to `diagnostics`, each once.
class TemplateMaker {
 public:
  // `known_macros`: of VARS, by lower-case name. `macro_names`: to suggest from.
  TemplateMaker(const ExperimentSpec& spec, const std::vector<sites::Site>& sites,
                std::function<bool(std::string_view)> known_macros, std::vector<std::string> macro_names,
                Diagnostics& diagnostics);

  dag::Template job(const std::string& name, const TemplateSpec& source, JobKind kind);
  // Services are no part of a run: they know no variables, and run at the site alone.
  dag::Template service(const ServiceSpec& service, dag::SiteId site);

 private:
  using Known = std::function<bool(std::string_view)>;
  submit::Description make(const SubmitText& source, const sites::Site& site);
  std::string fill(const SubmitText& source, const sites::Site& site);
  std::string brace_value(const std::string& name, const Position& position, const sites::Site& site);
  void report_unknown_brace(const std::string& name, const Position& position);
  // Where there are no sites to fill the braces from.
  void report_grammar(const SubmitText& source);
  void report_undefined_macros(const SubmitText& source, const Known& known);
  void add_once(const Diagnostic& diagnostic);

  const ExperimentSpec& spec_;
  const std::vector<sites::Site>& sites_;
  Known known_macros_;
  std::vector<std::string> macro_names_;
  Diagnostics& diagnostics_;
  std::vector<Diagnostic> said_;
};

}  // namespace godwit::experiment
