// One training job: some epochs of a run, from its checkpoint if there is one.
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>

#include "checkpoint.h"
#include "godwit/base/error.h"
#include "godwit/base/hash.h"
#include "godwit/base/json.h"
#include "godwit/ml/rank.h"
#include "godwit/store/atomic_file.h"
#include "metrics.h"
#include "options.h"
#include "training.h"

namespace protein_lm {
namespace {

volatile sig_atomic_t stop_asked = 0;

void stop_at_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { stop_asked = 1; };
  for (int signal : {SIGTERM, SIGINT}) sigaction(signal, &action, nullptr);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Every tenth variant is held out, the same ones for every run, so that validation losses compare.
struct Split {
  std::vector<std::uint32_t> training, validation;

  explicit Split(std::size_t count) {
    for (std::uint32_t i = 0; i < count; ++i) (i % 10 == 9 ? validation : training).push_back(i);
  }
};

std::string order_hash(std::span<const std::uint32_t> order) {
  return godwit::hex(godwit::hash64({reinterpret_cast<const char*>(order.data()), order.size_bytes()}));
}

// What makes a run the run it is: a checkpoint goes on only under the same settings.
std::string settings_of(const PretrainOptions& o, const std::string& data_hash) {
  return godwit::Json{{"data", data_hash},
                      {"seed", o.seed},
                      {"learning_rate", o.learning_rate},
                      {"weight_decay", o.weight_decay},
                      {"warmup", o.warmup},
                      {"schedule", o.schedule},
                      {"batch", o.batch},
                      {"epochs", o.epochs}}
      .dump();
}

class Pretraining {
 public:
  Pretraining(const PretrainOptions& options, const Domain& domain, const Simulated& data)
      : options_(options),
        split_(data.variants.size()),
        task_{domain, data.variants, targets_of(data), {}},
        settings_(settings_of(options, hash_of(simulated_text(data, domain)))),
        model_(domain, config_of(options), options.seed),
        optimizer_(model_.parameters(), {0.9, 0.999, 1e-8, options.weight_decay}) {
    task_.scale = Standardization::of(task_.targets, split_.training);
    steps_per_epoch_ = (split_.training.size() + options.batch - 1) / options.batch;
    const std::uint64_t total = steps_per_epoch_ * options.epochs;
    schedule_ = {options.learning_rate, static_cast<std::uint64_t>(options.warmup * static_cast<double>(total)), total,
                 options.schedule == "cosine" ? ml::Decay::cosine : ml::Decay::constant};
    resume();
  }

  int run() {
    const std::uint32_t last = options_.last_epoch;
    if (progress_.epochs_done >= last) {
      // A job that was stopped between its last checkpoint and its end: say again what it had reached.
      godwit::Json line = godwit::Json::parse(progress_.last_metrics);
      line["provenance"]["checkpoint"] = progress_.parent;
      append_line(options_.metrics, line.dump());
      return kSuccess;
    }
    while (progress_.epochs_done < last)
      if (!epoch()) return kCheckpointed;
    return kSuccess;
  }

 private:
  static ModelConfig config_of(const PretrainOptions& o) {
    ModelConfig config;
    config.width = o.width;
    config.layers = o.layers;
    config.inner = 2 * o.width;
    config.features = o.width;
    config.outputs = kEnergyTerms.size();
    config.dropout = o.dropout;
    return config;
  }

  void resume() {
    const std::optional<Loaded> found = inspect(options_.checkpoint);
    if (!found) {
      if (options_.first_epoch > 1)
        throw godwit::InputError(fmt::format("{}: there is no such checkpoint, and the job begins with epoch {}",
                                             options_.checkpoint, options_.first_epoch));
      return;
    }
    if (found->settings != settings_ || found->config != model_.config())
      throw godwit::InputError(fmt::format("{}: it belongs to a run with other settings", options_.checkpoint),
                               fmt::format("the checkpoint: {} {}\n  this job:       {} {}", found->settings,
                                           found->config.text(), settings_, model_.config().text()));
    if (found->progress.epochs_done + 1 < options_.first_epoch)
      throw godwit::InputError(fmt::format("{}: it ends after epoch {}, and the job begins with epoch {}",
                                           options_.checkpoint, found->progress.epochs_done, options_.first_epoch));
    restore(options_.checkpoint, model_, &optimizer_);
    progress_ = found->progress;
    if (progress_.steps_in_epoch == 0 && progress_.epochs_done > 0) progress_.parent = found->hash;
  }

  // False where a signal asked to stop; the checkpoint then holds the steps done so far.
  bool epoch() {
    const std::uint32_t number = progress_.epochs_done + 1;
    std::vector<std::uint32_t> order = split_.training;
    ml::Random(options_.seed, kDataOrder, number).shuffle(std::span(order));
    const double started = now();
    const std::clock_t cpu_started = std::clock();
    const std::uint32_t first_step = progress_.steps_in_epoch;
    double norm = 0;
    for (std::uint32_t step = first_step; step < steps_per_epoch_; ++step) {
      if (stop_asked) {
        // Before an epoch's first step the last checkpoint says it all, but before the very first there is none.
        if (step > 0 || progress_.epochs_done == 0) save(options_.checkpoint);
        fmt::print(stderr, "stopped in epoch {} after {} of {} steps; the checkpoint goes on from there\n", number,
                   step, steps_per_epoch_);
        return false;
      }
      const std::size_t first = step * options_.batch;
      const auto batch =
          std::span<const std::uint32_t>(order).subspan(first, std::min(options_.batch, order.size() - first));
      ml::Random random(options_.seed, kDropout, number, step);
      const StepResult result =
          learn(model_, optimizer_, tape_, task_, batch, schedule_.rate(optimizer_.steps()), random);
      norm = result.gradient_norm;
      progress_.loss_sum += result.loss;
      progress_.steps_in_epoch = step + 1;
    }
    godwit::Json line = finish(number, order_hash(order), norm);
    line["seconds"] = now() - started;
    line["cpu_seconds"] = static_cast<double>(std::clock() - cpu_started) / CLOCKS_PER_SEC;
    if (first_step != 0) line["provenance"]["resumed_at_step"] = first_step;  // the times are those since then
    report(line);
    return true;
  }

  // Validates, counts the epoch as done and returns what there is to say about it, but for the times.
  godwit::Json finish(std::uint32_t number, const std::string& order, double norm) {
    const Predictions predictions = predict(model_, task_.domain, task_.variants, split_.validation);
    const ml::Tensor<float> targets = task_.scale.apply(task_.targets, split_.validation);
    const double loss = mean_loss(predictions, targets);
    godwit::Json line{{"epoch", number},
                      {"train_loss", progress_.loss_sum / static_cast<double>(steps_per_epoch_)},
                      {"val_loss", loss},
                      {"val_spearman_total", total_correlation(predictions)},
                      {"learning_rate", schedule_.rate(optimizer_.steps() - 1)},
                      {"gradient_norm", norm},
                      {"provenance",
                       {{"seed", options_.seed},
                        {"steps", optimizer_.steps()},
                        {"build", kBuild},
                        {"parent_checkpoint", progress_.parent},
                        {"data_order", order},
                        {"rng_state", rng_state(number)}}}};
    is_best_ = number == 1 || loss < progress_.best_loss;
    progress_ = {number, 0, 0, is_best_ ? loss : progress_.best_loss, "", line.dump()};
    return line;
  }

  // The checkpoint comes last: a job that dies before it is there repeats the epoch, to the same bits, and neither the
  // metrics line nor the best checkpoint is missing.
  void report(godwit::Json line) {
    if (!options_.run.empty()) line["provenance"]["run"] = options_.run;
    const std::string checkpoint = checkpoint_bytes(model_, optimizer_, progress_, settings_);
    line["provenance"]["checkpoint"] = progress_.parent = hash_of(checkpoint);
    append_line(options_.metrics, line.dump());
    if (is_best_) godwit::store::write_file(options_.best, checkpoint);
    godwit::store::write_file(options_.checkpoint, checkpoint);
    fmt::print("epoch {}: training loss {:.4f}, validation loss {:.4f}, {:.2f} s\n", line["epoch"].get<std::uint32_t>(),
               line["train_loss"].get<double>(), line["val_loss"].get<double>(), line["seconds"].get<double>());
    std::fflush(stdout);
  }

  double total_correlation(const Predictions& predictions) const {
    const std::size_t total = kEnergyTerms.size() - 1;
    std::vector<double> truth;
    for (std::uint32_t i : split_.validation) truth.push_back(task_.targets.at(i, total));
    return ml::spearman(column(predictions.outputs, total), truth);
  }

  // Draws come from a counter, so this is all the state that random numbers have after the epoch.
  std::string rng_state(std::uint32_t number) const {
    return godwit::hex(godwit::FieldHasher().add(options_.seed).add(number).add(optimizer_.steps()).digest64());
  }

  void save(const std::string& path) {
    godwit::store::write_file(path, checkpoint_bytes(model_, optimizer_, progress_, settings_));
  }

  const PretrainOptions& options_;
  Split split_;
  Task task_;
  std::string settings_;
  Model<float> model_;
  ml::AdamW<float> optimizer_;
  ml::Tape<float> tape_;
  ml::Schedule schedule_;
  std::size_t steps_per_epoch_ = 0;
  Progress progress_;
  bool is_best_ = false;
};

void check(const PretrainOptions& o) {
  const auto require = [](bool fits, const std::string& message) {
    if (!fits) throw godwit::InputError(message);
  };
  require(o.epochs >= 1, "--epochs must be 1 or more");
  require(o.last_epoch <= o.epochs,
          fmt::format("the job ends with epoch {}, but the run has {} epochs", o.last_epoch, o.epochs));
  require(o.first_epoch >= 1 && o.first_epoch <= o.last_epoch,
          fmt::format("the job cannot go from epoch {} to epoch {}; epochs count from 1", o.first_epoch, o.last_epoch));
  require(o.batch >= 1, "--batch must be 1 or more");
  require(o.width >= 4 && o.width % 4 == 0 && o.width <= 1024, "--width must be a multiple of 4, up to 1024");
  require(o.layers >= 1 && o.layers <= 32, "--layers must be 1 to 32");
  require(o.learning_rate > 0 && std::isfinite(o.learning_rate), "--lr must be above 0");
  require(o.dropout >= 0 && o.dropout < 1, "--dropout must be 0 or more, and below 1");
  require(o.warmup >= 0 && o.warmup < 1, "--warmup must be 0 or more, and below 1");
}

}  // namespace

int pretrain_command(const PretrainOptions& given) {
  PretrainOptions options = given;
  if (options.last_epoch == 0) options.last_epoch = options.epochs;
  check(options);
  stop_at_signals();
  const Domain& domain = grb2_sh3();
  const SimulateOptions fresh;
  const Simulated data =
      options.data.empty() ? simulate(domain, fresh.variants, fresh.seed) : read_simulated(options.data, domain);
  if (data.variants.size() < 20) throw godwit::InputError(options.data + ": fewer than 20 variants");
  return Pretraining(options, domain, data).run();
}

}  // namespace protein_lm
