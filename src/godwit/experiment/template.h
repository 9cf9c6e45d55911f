// Braces: what a submit template takes from the site.
//
// {resource.cpus} becomes the site's value. {{ is a literal brace, and }} the one that closes it. A brace around one
// word or dotted words that is not known is an error, since it was hardly meant to reach the job; every other brace
// (JSON in an argument, ${HOME}) stays as it is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "godwit/base/error.h"
#include "godwit/experiment/spec.h"
#include "godwit/sites/site.h"

namespace godwit::experiment {

// A placeholder of a template.
struct Brace {
  std::string name;       // what stands between the braces
  std::size_t begin = 0;  // in the text, of {
  std::size_t end = 0;    // past }
  Position position;      // of {
};

// The placeholders of the text, and where it has escaped braces. `fill` leaves everything else alone.
class BraceTemplate {
 public:
  explicit BraceTemplate(const SubmitText& source);
  const std::vector<Brace>& braces() const { return braces_; }
  // The text with each placeholder replaced and escapes undone.
  std::string fill(const std::function<std::string(const Brace&)>& value) const;

 private:
  struct Piece {
    std::string literal;
    std::optional<std::size_t> brace;  // that follows it: index into braces_
  };
  std::vector<Brace> braces_;
  std::vector<Piece> pieces_;
};

// The value of {resource.<field>}: the site's, else the experiment's default, else the documented one.
std::optional<std::string> resource_value(const sites::Site& site, const sites::Site& defaults, std::string_view field);

}  // namespace godwit::experiment
