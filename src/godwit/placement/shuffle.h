// The shuffle of the experiment: every run a different order of the sites, no site favoured.
//
// Runs are taken in groups of n (the number of sites), jobs in blocks of n. In a block the n runs of a group form
// a Latin square: a run visits each site once, and at each position every site has one run. The squares are E. J.
// Williams's ("Experimental designs balanced for the estimation of residual effects of treatments", 1949): with an
// even n each site follows each other site equally often in every group, with an odd n in every two groups, so
// that what a site leaves behind in a model is not mixed up with the site after it. Where a block follows another,
// no run stays at its site. Which square a group takes is drawn by the seed, without repeating an order before all
// n! are used.
#pragma once

#include <cstdint>
#include <vector>

namespace godwit::placement {

class Shuffle {
 public:
  // `sites` at least 1.
  Shuffle(std::uint64_t seed, std::uint32_t sites);

  // The site, from 0, of the job of the run. Cheap when the jobs of a run are asked for together.
  std::uint32_t site_of(std::uint32_t run, std::uint32_t job);

 private:
  // One block of one group: row r visits order[(r + w_p) mod n] at its position p.
  struct Block {
    std::vector<std::uint32_t> order;
    std::vector<std::uint32_t> place;  // the inverse of `order`
    std::uint32_t shift = 0;           // from a run's last site in the block before to its first in this one
  };

  std::uint64_t draw(std::uint64_t purpose, std::uint64_t a, std::uint64_t b) const;
  Block make_block(std::uint32_t index) const;
  std::vector<std::uint32_t> make_order(std::uint32_t block, std::uint32_t number) const;
  void enter_group(std::uint32_t group);
  void extend_path();

  std::uint64_t seed_;
  std::uint32_t n_;
  std::vector<std::uint32_t> walk_;     // Williams's w
  std::vector<std::uint32_t> radices_;  // of the digits that name an order
  std::uint64_t orders_ = 1;            // how many of them are enumerated without repeating

  std::uint32_t group_ = 0;
  std::vector<std::uint32_t> first_rows_;  // of the group's runs in its first block
  std::vector<Block> blocks_;              // of the group, as far as asked
  std::uint32_t run_ = 0;
  std::vector<std::uint32_t> path_;  // of the run, as far as asked
};

}  // namespace godwit::placement
