// The network: METL's in small (Gelman et al., Nature Methods 22, 2025).
//
// Amino acids are embedded, go through pre-norm transformer layers whose attention knows how residues lie to each
// other in the structure, are averaged over the domain, and pass a small head that predicts every energy term at once.
#pragma once

#include <string>
#include <vector>

#include "godwit/ml/attention.h"
#include "godwit/ml/ops.h"
#include "godwit/ml/parameters.h"
#include "protein.h"

namespace protein_lm {

namespace ml = godwit::ml;

// Streams of random numbers, so that each purpose draws its own.
enum Stream : std::uint32_t { kInitialWeights = 0, kDataOrder = 1, kDropout = 2, kSplit = 3, kFinetune = 4 };

struct ModelConfig {
  std::size_t width = 32;  // d
  std::size_t layers = 1;
  std::size_t heads = 4;
  std::size_t inner = 64;     // of the feed-forward part
  std::size_t features = 32;  // of the head's hidden layer: what finetuning starts from
  std::size_t clip = 3;       // longest path in the graph of contacts that is told apart
  std::size_t outputs = 1;
  double dropout = 0;

  std::string text() const;  // as JSON: goes into checkpoints
  // Throws godwit::InputError.
  static ModelConfig from_text(const std::string& text);
  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

template <class T>
class Model {
 public:
  // Initial weights depend on `seed` alone.
  Model(const Domain& domain, const ModelConfig& config, std::uint64_t seed);

  // Tokens are whole sequences, one after the other. With `random`, as in training: dropout, and gradients for what is
  // not frozen; without, weights are constants.
  ml::Var features(ml::Tape<T>& tape, std::span<const std::int32_t> tokens, ml::Random* random);  // [n, features]
  ml::Var predict(ml::Tape<T>& tape, ml::Var features, ml::Random* random);                       // [n, outputs]

  ml::Parameters<T>& parameters() { return parameters_; }
  const ModelConfig& config() const { return config_; }

 private:
  struct Linear {
    ml::Parameter<T>*weight, *bias;
  };
  struct Norm {
    ml::Parameter<T>*gain, *bias;
  };
  struct Layer {
    Norm before_attention, before_inner;
    Linear query, key, value, out, expand, contract;
    ml::Parameter<T>*key_table, *value_table;
  };

  Linear add_linear(const std::string& name, std::size_t in, std::size_t out, ml::Random& random);
  Norm add_norm(const std::string& name, std::size_t width);
  Layer add_layer(const std::string& name, ml::Random& random);
  ml::Var use(ml::Tape<T>& tape, ml::Parameter<T>& parameter, bool training);
  ml::Var apply(ml::Tape<T>& tape, const Linear& linear, ml::Var x, bool training);
  ml::Var apply(ml::Tape<T>& tape, const Norm& norm, ml::Var x, bool training);
  ml::Var apply(ml::Tape<T>& tape, const Layer& layer, ml::Var x, ml::Random* random);
  ml::Var drop(ml::Tape<T>& tape, ml::Var x, ml::Random* random);

  ModelConfig config_;
  std::size_t length_;
  ml::RelativePositions positions_;
  ml::Parameters<T> parameters_;
  ml::Parameter<T>* embedding_ = nullptr;
  ml::Parameter<T>* places_ = nullptr;
  std::vector<Layer> layers_;
  Norm final_norm_{}, head_norm_{};
  Linear head_{}, out_{};
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace protein_lm
