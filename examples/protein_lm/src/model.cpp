#include "model.h"

#include <fmt/format.h>

#include <cmath>

#include "godwit/base/error.h"
#include "godwit/base/json.h"

namespace protein_lm {

std::string ModelConfig::text() const {
  return godwit::Json{{"width", width},       {"layers", layers}, {"heads", heads},     {"inner", inner},
                      {"features", features}, {"clip", clip},     {"outputs", outputs}, {"dropout", dropout}}
      .dump();
}

ModelConfig ModelConfig::from_text(const std::string& text) {
  try {
    const godwit::Json json = godwit::Json::parse(text);
    const auto size = [&](const char* key) {
      const auto n = json.at(key).get<std::size_t>();
      if (n == 0 || n > 4096) throw godwit::InputError(fmt::format("the model's {} is {}, not 1 to 4096", key, n));
      return n;
    };
    return {size("width"),    size("layers"), size("heads"),   size("inner"),
            size("features"), size("clip"),   size("outputs"), json.at("dropout").get<double>()};
  } catch (const godwit::Json::exception& e) {
    throw godwit::InputError(fmt::format("the model's configuration cannot be read: {}", e.what()));
  }
}

template <class T>
Model<T>::Model(const Domain& domain, const ModelConfig& config, std::uint64_t seed)
    : config_(config),
      length_(domain.length()),
      positions_(ml::graph_positions(domain.contacts(), domain.length(), config.clip)) {
  ml::Random random(seed, kInitialWeights);
  embedding_ = &parameters_.add_uniform("embedding.weight", {kAminoAcidCount, config.width}, 0.5, random);
  places_ = &parameters_.add_uniform("place.weight", {length_, config.width}, 0.5, random);
  for (std::size_t l = 0; l < config.layers; ++l) layers_.push_back(add_layer(fmt::format("layers.{}.", l), random));
  final_norm_ = add_norm("norm.", config.width);
  head_ = add_linear("head.hidden.", config.width, config.features, random);
  head_norm_ = add_norm("head.norm.", config.features);
  out_ = add_linear("head.out.", config.features, config.outputs, random);
}

template <class T>
typename Model<T>::Linear Model<T>::add_linear(const std::string& name, std::size_t in, std::size_t out,
                                               ml::Random& random) {
  const double limit = 1 / std::sqrt(static_cast<double>(in));
  return {&parameters_.add_uniform(name + "weight", {in, out}, limit, random), &parameters_.add(name + "bias", {out})};
}

template <class T>
typename Model<T>::Norm Model<T>::add_norm(const std::string& name, std::size_t width) {
  return {&parameters_.add(name + "gain", {width}, T(1)), &parameters_.add(name + "bias", {width})};
}

template <class T>
typename Model<T>::Layer Model<T>::add_layer(const std::string& name, ml::Random& random) {
  const std::size_t d = config_.width;
  Layer layer{};
  layer.before_attention = add_norm(name + "attention_norm.", d);
  layer.query = add_linear(name + "attention.query.", d, d, random);
  layer.key = add_linear(name + "attention.key.", d, d, random);
  layer.value = add_linear(name + "attention.value.", d, d, random);
  layer.out = add_linear(name + "attention.out.", d, d, random);
  const ml::Shape table{positions_.buckets, d / config_.heads};
  layer.key_table = &parameters_.add_uniform(name + "attention.relative_key", table, 0.3, random);
  layer.value_table = &parameters_.add_uniform(name + "attention.relative_value", table, 0.3, random);
  layer.before_inner = add_norm(name + "inner_norm.", d);
  layer.expand = add_linear(name + "inner.expand.", d, config_.inner, random);
  layer.contract = add_linear(name + "inner.contract.", config_.inner, d, random);
  return layer;
}

template <class T>
ml::Var Model<T>::use(ml::Tape<T>& tape, ml::Parameter<T>& parameter, bool training) {
  return training ? ml::on_tape(tape, parameter) : tape.frozen(parameter.value);
}

template <class T>
ml::Var Model<T>::apply(ml::Tape<T>& tape, const Linear& linear, ml::Var x, bool training) {
  return ml::linear(tape, x, use(tape, *linear.weight, training), use(tape, *linear.bias, training));
}

template <class T>
ml::Var Model<T>::apply(ml::Tape<T>& tape, const Norm& norm, ml::Var x, bool training) {
  return ml::layer_norm(tape, x, use(tape, *norm.gain, training), use(tape, *norm.bias, training));
}

template <class T>
ml::Var Model<T>::drop(ml::Tape<T>& tape, ml::Var x, ml::Random* random) {
  return random ? ml::dropout(tape, x, config_.dropout, *random) : x;
}

template <class T>
ml::Var Model<T>::apply(ml::Tape<T>& tape, const Layer& layer, ml::Var x, ml::Random* random) {
  const bool training = random != nullptr;
  const ml::Var seen = apply(tape, layer.before_attention, x, training);
  const ml::Var attended =
      ml::relative_attention(tape, apply(tape, layer.query, seen, training), apply(tape, layer.key, seen, training),
                             apply(tape, layer.value, seen, training), use(tape, *layer.key_table, training),
                             use(tape, *layer.value_table, training), positions_, config_.heads);
  x = ml::add(tape, x, drop(tape, apply(tape, layer.out, attended, training), random));
  const ml::Var inner =
      ml::relu(tape, apply(tape, layer.expand, apply(tape, layer.before_inner, x, training), training));
  return ml::add(tape, x, drop(tape, apply(tape, layer.contract, inner, training), random));
}

template <class T>
ml::Var Model<T>::features(ml::Tape<T>& tape, std::span<const std::int32_t> tokens, ml::Random* random) {
  const bool training = random != nullptr;
  ml::Var x = ml::embedding(tape, use(tape, *embedding_, training), tokens);
  x = ml::add_rows(tape, x, use(tape, *places_, training));
  for (const Layer& layer : layers_) x = apply(tape, layer, x, random);
  x = ml::mean_pool(tape, apply(tape, final_norm_, x, training), length_);
  // A substitution moves the mean over the domain by little; brought back to the scale of one residue.
  x = ml::scale(tape, x, static_cast<T>(std::sqrt(static_cast<double>(length_))));
  return ml::relu(tape, apply(tape, head_norm_, apply(tape, head_, x, training), training));
}

template <class T>
ml::Var Model<T>::predict(ml::Tape<T>& tape, ml::Var features, ml::Random* random) {
  return apply(tape, out_, drop(tape, features, random), random != nullptr);
}

template class Model<float>;
template class Model<double>;

}  // namespace protein_lm
