#include "godwit/experiment/site_choice.h"

#include <algorithm>
#include <filesystem>

#include "godwit/base/hash.h"
#include "godwit/base/text.h"
#include "godwit/sites/personal.h"

namespace godwit::experiment {
namespace {

constexpr std::string_view kThisMachine = "local";

// sites.yaml or resources.yaml beside the experiment, named as messages name the experiment; "" where there is none.
std::string file_beside(const ExperimentSpec& spec) {
  const std::filesystem::path folder = std::filesystem::path(spec.position.file).parent_path();
  for (const char* name : {"sites.yaml", "resources.yaml"})
    if (std::filesystem::exists(folder / name)) return folder / name;
  return "";
}

class Chooser {
 public:
  Chooser(const ExperimentSpec& spec, Diagnostics& diagnostics) : spec_(spec), diagnostics_(diagnostics) {}

  SiteChoice choose(const std::string& sites_file) {
    load_catalogue(sites_file);
    sites::apply_personal(sites::personal_file(), catalogue_, diagnostics_);
    choose_migrating();
    choose_baseline();
    choice_.placement.rule = spec_.placement;
    choice_.placement.seed = hash64(spec_.seed);
    return std::move(choice_);
  }

 private:
  void load_catalogue(const std::string& sites_file) {
    if (sites_file.empty() && spec_.inline_sites) {
      catalogue_ = *spec_.inline_sites;
      return;
    }
    choice_.file = sites_file.empty() ? file_beside(spec_) : sites_file;
    if (choice_.file.empty()) return;
    try {
      catalogue_ = sites::load(choice_.file);
    } catch (const InputError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) diagnostics_.add(diagnostic);
      catalogue_is_faulty_ = true;
    } catch (const SystemError& error) {
      diagnostics_.error({}, error.what());
      catalogue_is_faulty_ = true;
    }
  }

  // Finds the site or reports that there is none; says nothing where the catalogue itself has been complained of.
  const sites::Site* find(const Reference& reference) {
    if (const sites::Site* site = catalogue_.find(reference.name)) return site;
    if (catalogue_is_faulty_) return nullptr;
    const bool unnamed = catalogue_.sites.empty() && reference.name == "default";
    if (reference.name == kThisMachine || unnamed) {
      catalogue_.sites.push_back(sites::built_in(reference.name).sites.front());
      return &catalogue_.sites.back();
    }
    std::vector<std::string> names{std::string(kThisMachine)};
    for (const sites::Site& site : catalogue_.sites) names.push_back(site.name);
    std::string hint = did_you_mean(reference.name, names);
    if (hint.empty()) hint = "there are: " + join(names, ", ");
    if (choice_.file.empty() && !spec_.inline_sites) hint += "; describe others in sites.yaml beside the experiment";
    diagnostics_.error(reference.position, "no such site", reference.name, hint);
    return nullptr;
  }

  dag::SiteId add(const sites::Site& site) {
    for (std::size_t i = 0; i < choice_.sites.size(); ++i)
      if (choice_.sites[i].name == site.name) return static_cast<dag::SiteId>(i);
    choice_.sites.push_back(site);
    return static_cast<dag::SiteId>(choice_.sites.size() - 1);
  }

  std::vector<sites::Site> listed() {
    std::vector<sites::Site> out;
    for (const Reference& reference : spec_.site_names)
      if (const sites::Site* site = find(reference)) out.push_back(*site);
    if (!spec_.site_names.empty()) return out;
    // What the sites are nobody knows: nothing is to be said of those that there would be without the file.
    if (!catalogue_.sites.empty() || catalogue_is_faulty_) return catalogue_.sites;
    return sites::built_in("default").sites;
  }

  void choose_migrating() {
    std::vector<sites::Site> candidates = listed();
    if (spec_.placement == placement::Rule::fixed) {
      const sites::Site* fixed = spec_.fixed_site ? find(*spec_.fixed_site) : nullptr;
      if (fixed != nullptr)
        candidates = {*fixed};
      else if (!candidates.empty())
        candidates.resize(1);
    }
    for (const sites::Site& site : candidates) choice_.placement.sites.push_back(add(site));
    if (!choice_.placement.sites.empty()) choice_.placement.fixed_site = choice_.placement.sites.front();
  }

  void choose_baseline() {
    if (!spec_.baseline) return;
    if (const sites::Site* site = find(*spec_.baseline)) choice_.placement.baseline_site = add(*site);
  }

  const ExperimentSpec& spec_;
  Diagnostics& diagnostics_;
  sites::Catalogue catalogue_;
  bool catalogue_is_faulty_ = false;
  SiteChoice choice_;
};

// Sites that other keys of the experiment name must take part.
void check_references(const ExperimentSpec& spec, const SiteChoice& choice, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const sites::Site& site : choice.sites) names.push_back(site.name);
  const auto check = [&](const std::string& name, const Position& position) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    const std::string hint = did_you_mean(name, names);
    diagnostics.error(position, "the experiment uses no such site", name,
                      hint.empty() ? "it uses: " + join(names, ", ") : hint);
  };
  for (const SiteLimit& limit : spec.max_jobs.per_site) check(limit.site.name, limit.site.position);
  for (const auto& [site, text] : spec.train.at_site) check(site, text.origin);
  if (spec.evaluation)
    for (const auto& [site, text] : spec.evaluation->submit.at_site) check(site, text.origin);
}

}  // namespace

SiteChoice choose_sites(const ExperimentSpec& spec, const std::string& sites_file, Diagnostics& diagnostics) {
  SiteChoice choice = Chooser(spec, diagnostics).choose(sites_file);
  if (!choice.sites.empty()) check_references(spec, choice, diagnostics);
  return choice;
}

}  // namespace godwit::experiment
