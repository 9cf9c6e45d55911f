#include "godwit/sites/personal.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "godwit/base/error.h"

namespace godwit::sites {
namespace {

namespace fs = std::filesystem;

std::string fault_of(const std::string& text, Catalogue& catalogue) {
  const fs::path file = fs::temp_directory_path() / ("godwit-personal-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << text;
  Diagnostics diagnostics;
  apply_personal(file, catalogue, diagnostics);
  fs::remove(file);
  return diagnostics.all().empty() ? "" : diagnostics.all().front().render();
}

Catalogue two_sites() {
  Catalogue catalogue = built_in("delta");
  catalogue.sites.front().allocation = "shared";
  catalogue.sites.front().login_name = "nobody";
  catalogue.sites.push_back(catalogue.sites.front());
  catalogue.sites.back().name = "expanse";
  return catalogue;
}

TEST_CASE("a person's own account and name at a site win, and nothing else changes") {
  Catalogue catalogue = two_sites();
  CHECK(fault_of("delta: {allocation: abc-123, login_name: ada}\nelsewhere: {allocation: x}\n", catalogue).empty());
  CHECK(catalogue.sites[0].allocation == "abc-123");
  CHECK(catalogue.sites[0].login_name == "ada");
  CHECK(catalogue.sites[1].allocation == "shared");
  CHECK(fault_of("expanse: {login_name: ada}\n", catalogue).empty());
  CHECK(catalogue.sites[1].allocation == "shared");
  CHECK(catalogue.sites[1].login_name == "ada");
}

TEST_CASE("what it may not say is an error with its place") {
  Catalogue catalogue = two_sites();
  CHECK(fault_of("delta: {alocation: abc}\n", catalogue).find(":1:9: error") != std::string::npos);
  CHECK(fault_of("delta: {alocation: abc}\n", catalogue).find("'allocation'") != std::string::npos);
  CHECK(fault_of("- delta\n", catalogue).find("mapping") != std::string::npos);
  CHECK(fault_of("delta: 3\n", catalogue).find("mapping") != std::string::npos);
  CHECK(fault_of("delta: {cpus: 4}\n", catalogue).find("'cpus'") != std::string::npos);
}

TEST_CASE("where it is") {
  ::setenv("XDG_CONFIG_HOME", "/there", 1);
  CHECK(personal_file() == "/there/godwit/sites.yaml");
  ::unsetenv("XDG_CONFIG_HOME");
  ::setenv("HOME", "/home/ada", 1);
  CHECK(personal_file() == "/home/ada/.config/godwit/sites.yaml");
  ::unsetenv("HOME");
  CHECK(personal_file().empty());
  Catalogue catalogue = two_sites();
  Diagnostics diagnostics;
  apply_personal("", catalogue, diagnostics);
  apply_personal("/nowhere/sites.yaml", catalogue, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
}

}  // namespace
}  // namespace godwit::sites
