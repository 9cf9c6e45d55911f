// Which jobs that are done must be done again, so that others can go on from what they left.
#pragma once

#include <string>
#include <vector>

#include "godwit/journal/view.h"

namespace godwit::cli {

// A node that is to be done again, and why.
struct Redo {
  journal::NodeIndex node;
  std::string why;
};

// The nodes themselves, and of every training job whose checkpoint they begin with: those that are done but whose
// checkpoint is not there, or not as it was recorded, and what these begin with in turn. Reads checkpoints to their
// last byte. `folder`: where the experiment's runs/ is.
std::vector<Redo> with_lost_producers(const journal::View& view, const std::string& folder,
                                      const std::vector<journal::NodeIndex>& nodes);

}  // namespace godwit::cli
