// What a checkpoint is worth: finetuned on a few measurements, beside what the same measurements give without it.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>

#include "checkpoint.h"
#include "godwit/base/error.h"
#include "godwit/base/json.h"
#include "godwit/ml/rank.h"
#include "godwit/ml/ridge.h"
#include "metrics.h"
#include "options.h"
#include "training.h"

namespace protein_lm {
namespace {

// How a network learns from the measurements. The one from scratch gets the longer training that it needs: chosen on
// the real scan of README.md, where neither gains from more.
struct Recipe {
  std::uint32_t epochs;
  double learning_rate;
};
constexpr Recipe kFinetuned{40, 3e-3}, kFromScratch{100, 3e-3};
constexpr std::size_t kBatch = 20;
constexpr double kDropoutShare = 0.2, kWeightDecay = 0.1;

struct Method {
  const char* key;
  const char* name;
};
constexpr std::array<Method, 5> kMethods{{{"spearman_finetuned", "pretrained, then finetuned"},
                                          {"spearman_scratch", "the same network from scratch"},
                                          {"spearman_ridge", "ridge regression, one-hot"},
                                          {"spearman_ridge_features", "ridge, one-hot and pretrained features"},
                                          {"spearman_zero_shot", "predicted total energy, no measurement"}}};

// One choice of measurements to learn from and of held-out variants to be judged by.
class Trial {
 public:
  Trial(const EvaluateOptions& options, const Domain& domain, const Measured& data, Model<float>& pretrained,
        std::uint32_t split)
      : options_(options),
        split_(split),
        pretrained_(pretrained),
        order_(data.variants.size()),
        task_{domain, data.variants, targets_of(data), {}} {
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    ml::Random(options.seed, kSplit, split).shuffle(std::span(order_));
    training_ = std::span<const std::uint32_t>(order_).first(options.measurements);
    held_out_ = std::span<const std::uint32_t>(order_).subspan(options.measurements, options.held_out);
    task_.scale = Standardization::of(task_.targets, training_);
  }

  std::array<double, kMethods.size()> run() {
    const Predictions known = predict(pretrained_, task_.domain, task_.variants, training_);
    const Predictions unknown = predict(pretrained_, task_.domain, task_.variants, held_out_);
    const Standardization scale = Standardization::of(known.features, all(known.features));
    const ml::Ridge on_features =
        ml::Ridge::fit(widen(scale.apply(known.features, all(known.features))), scores(), ml::usual_penalties());
    std::vector<double> totals = column(unknown.outputs, unknown.outputs.cols() - 1);
    for (double& t : totals) t = -t;  // a low energy is a high score
    return {finetuned(on_features, scale), from_scratch(), ridge(nullptr, nullptr),
            ridge(&known.features, &unknown.features), correlation(totals)};
  }

 private:
  ModelConfig config() const {
    ModelConfig config = pretrained_.config();
    config.outputs = 1;
    config.dropout = kDropoutShare;
    return config;
  }

  static std::vector<std::uint32_t> all(const ml::Tensor<double>& t) {
    std::vector<std::uint32_t> rows(t.rows());
    std::iota(rows.begin(), rows.end(), std::uint32_t{0});
    return rows;
  }
  static ml::Tensor<double> widen(const ml::Tensor<float>& t) {
    ml::Tensor<double> out(t.shape());
    std::copy(t.values().begin(), t.values().end(), out.data());
    return out;
  }

  // The standardized scores of the measurements.
  std::vector<double> scores() const { return column(widen(task_.scale.apply(task_.targets, training_)), 0); }

  double correlation(const std::vector<double>& predicted) const {
    std::vector<double> truth;
    for (std::uint32_t i : held_out_) truth.push_back(task_.targets[i]);
    return ml::spearman(predicted, truth);
  }

  // The head starts as the ridge regression on the frozen features (Kumar et al., ICLR 2022: a random head would
  // distort them first).
  double finetuned(const ml::Ridge& on_features, const Standardization& scale) {
    Model<float> model(task_.domain, config(), options_.seed);
    for (ml::Parameter<float>& p : model.parameters().all()) {
      const ml::Tensor<float>& from = pretrained_.parameters().find(p.name)->value;
      if (from.shape() == p.value.shape()) p.value = from;
    }
    ml::Tensor<float>&weight = model.parameters().find("head.out.weight")->value,
    &bias = model.parameters().find("head.out.bias")->value;
    double intercept = on_features.intercept();
    for (std::size_t c = 0; c < weight.size(); ++c) {
      const double slope = on_features.weights()[c] / scale.deviation[c];
      weight[c] = static_cast<float>(slope);
      intercept -= slope * scale.mean[c];
    }
    bias[0] = static_cast<float>(intercept);
    return train(model, kFinetuned);
  }

  double from_scratch() {
    Model<float> model(task_.domain, config(), options_.seed + 1000 * (split_ + 1));
    return train(model, kFromScratch);
  }

  double train(Model<float>& model, const Recipe& recipe) {
    ml::AdamW<float> optimizer(model.parameters(), {0.9, 0.999, 1e-8, kWeightDecay});
    ml::Tape<float> tape;
    std::vector<std::uint32_t> order(training_.begin(), training_.end());
    const std::uint64_t steps = (order.size() + kBatch - 1) / kBatch;
    const ml::Schedule schedule{recipe.learning_rate, 2 * steps, steps * recipe.epochs, ml::Decay::cosine};
    for (std::uint32_t epoch = 0; epoch < recipe.epochs; ++epoch) {
      ml::Random random(options_.seed, kFinetune, epoch, split_);
      random.shuffle(std::span(order));
      for (std::size_t at = 0; at < order.size(); at += kBatch)
        learn(model, optimizer, tape, task_,
              std::span<const std::uint32_t>(order).subspan(at, std::min(kBatch, order.size() - at)),
              schedule.rate(optimizer.steps()), random);
    }
    return correlation(column(predict(model, task_.domain, task_.variants, held_out_).outputs, 0));
  }

  double ridge(const ml::Tensor<double>* known, const ml::Tensor<double>* unknown) const {
    const ml::Ridge fit = ml::Ridge::fit(inputs(training_, known, known), scores(), ml::usual_penalties());
    return correlation(fit.predict(inputs(held_out_, unknown, known)));
  }

  // Each residue one-hot, and with features, these too: standardized by `reference`, and scaled so that together they
  // weigh as much as two substitutions.
  ml::Tensor<double> inputs(std::span<const std::uint32_t> rows, const ml::Tensor<double>* features,
                            const ml::Tensor<double>* reference) const {
    const std::size_t places = task_.domain.length() * kAminoAcidCount;
    ml::Tensor<double> x({rows.size(), places + (features ? features->cols() : 0)});
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::size_t at = 0;
      for (std::uint8_t residue : sequence_of(task_.variants[rows[r]], task_.domain)) {
        x.at(r, at + residue) = 1;
        at += kAminoAcidCount;
      }
    }
    if (features == nullptr) return x;
    const ml::Tensor<float> scaled = Standardization::of(*reference, all(*reference)).apply(*features, all(*features));
    const double weight = std::sqrt(2.0 / static_cast<double>(features->cols()));
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t c = 0; c < features->cols(); ++c)
        x.at(r, places + c) = weight * static_cast<double>(scaled.at(r, c));
    return x;
  }

  const EvaluateOptions& options_;
  std::uint32_t split_;
  Model<float>& pretrained_;
  std::vector<std::uint32_t> order_;
  std::span<const std::uint32_t> training_, held_out_;
  Task task_;
};

struct Summary {
  double mean = 0, deviation = 0;  // of the sample; 0 for one value
};

Summary summary_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (double v : values) squares += (v - mean) * (v - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0};
}

void report(const EvaluateOptions& options, const Loaded& checkpoint, const Measured& data,
            const std::array<Summary, kMethods.size()>& summaries) {
  fmt::print("Measurements: {} ({} variants).\n", data.source, data.variants.size());
  fmt::print("Spearman's correlation on {} held-out variants after learning from {} measurements, {} split{}:\n",
             options.held_out, options.measurements, options.splits, options.splits == 1 ? "" : "s (mean ± sd)");
  godwit::Json line{{"epoch", checkpoint.progress.epochs_done}};
  for (std::size_t m = 0; m < kMethods.size(); ++m) {
    const auto& [mean, deviation] = summaries[m];
    fmt::print("  {:<40} {:6.3f}{}\n", kMethods[m].name, mean,
               options.splits > 1 ? fmt::format(" ± {:.3f}", deviation) : "");
    line[kMethods[m].key] = mean;
    if (options.splits > 1) line[std::string(kMethods[m].key) + "_sd"] = deviation;
  }
  line["provenance"] = godwit::Json{{"measurements", options.measurements},
                                    {"held_out", options.held_out},
                                    {"splits", options.splits},
                                    {"generated", options.dms.empty()},
                                    {"build", kBuild},
                                    {"checkpoint", checkpoint.hash}};
  append_line(options.metrics, line.dump());
}

}  // namespace

int evaluate_command(const EvaluateOptions& options) {
  const Domain& domain = grb2_sh3();
  const std::optional<Loaded> checkpoint = inspect(options.checkpoint);
  if (!checkpoint) throw godwit::InputError(options.checkpoint + ": there is no such checkpoint");
  Model<float> pretrained(domain, checkpoint->config, 0);
  restore(options.checkpoint, pretrained, nullptr);
  const Measured data = options.dms.empty() ? generated_measurements(domain) : read_measured(options.dms, domain);
  if (options.splits < 1 || options.measurements < 10 || options.held_out < 10)
    throw godwit::InputError("--splits must be 1 or more, --measurements and --held-out 10 or more");
  if (options.measurements + options.held_out > data.variants.size())
    throw godwit::InputError(fmt::format("{} measurements and {} held-out variants are more than the {} there are",
                                         options.measurements, options.held_out, data.variants.size()));
  std::array<std::vector<double>, kMethods.size()> values;
  for (std::uint32_t split = 0; split < options.splits; ++split) {
    const auto result = Trial(options, domain, data, pretrained, split).run();
    for (std::size_t m = 0; m < kMethods.size(); ++m) values[m].push_back(result[m]);
  }
  std::array<Summary, kMethods.size()> summaries;
  for (std::size_t m = 0; m < kMethods.size(); ++m) summaries[m] = summary_of(values[m]);
  report(options, *checkpoint, data, summaries);
  return kSuccess;
}

}  // namespace protein_lm
