#include "checkpoint.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "godwit/base/error.h"
#include "godwit/base/file.h"
#include "godwit/base/hash.h"
#include "godwit/base/json.h"
#include "godwit/ml/safetensors.h"

namespace protein_lm {
namespace {

constexpr const char* kFormat = "protein_lm checkpoint 1";

std::string progress_text(const Progress& p) {
  return godwit::Json{{"epochs_done", p.epochs_done}, {"steps_in_epoch", p.steps_in_epoch},
                      {"loss_sum", p.loss_sum},       {"best_loss", p.best_loss},
                      {"parent", p.parent},           {"last_metrics", p.last_metrics}}
      .dump();
}

Progress progress_from(const std::string& text, const std::string& path) {
  try {
    const godwit::Json json = godwit::Json::parse(text);
    return {json.at("epochs_done").get<std::uint32_t>(), json.at("steps_in_epoch").get<std::uint32_t>(),
            json.at("loss_sum").get<double>(),           json.at("best_loss").get<double>(),
            json.at("parent").get<std::string>(),        json.at("last_metrics").get<std::string>()};
  } catch (const godwit::Json::exception&) {
    throw godwit::InputError(path + ": its progress cannot be read");
  }
}

void copy(const ml::Safetensors& file, const std::string& name, ml::Tensor<float>& into) {
  const ml::Shape shape = into.shape();
  into = file.tensor<float>(name, &shape);
}

}  // namespace

std::string hash_of(std::string_view bytes) {
  return "xxh3:" + godwit::hex(godwit::hash128(bytes));
}

std::string checkpoint_bytes(Model<float>& model, ml::AdamW<float>& optimizer, const Progress& progress,
                             const std::string& settings) {
  ml::SafetensorsWriter writer;
  std::size_t i = 0;
  for (const ml::Parameter<float>& p : model.parameters().all()) {
    writer.add("model." + p.name, p.value);
    writer.add("optimizer.first." + p.name, optimizer.first_moments()[i]);
    writer.add("optimizer.second." + p.name, optimizer.second_moments()[i]);
    ++i;
  }
  writer.set("format", kFormat);
  writer.set("model", model.config().text());
  writer.set("settings", settings);
  writer.set("optimizer.steps", std::to_string(optimizer.steps()));
  writer.set("progress", progress_text(progress));
  return writer.bytes();
}

std::optional<Loaded> inspect(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const std::string bytes = godwit::read_file(path);
  const ml::Safetensors file = ml::Safetensors::parse(bytes, path);
  if (file.text("format") != kFormat)
    throw godwit::InputError(fmt::format("{}: its format is '{}', not '{}'", path, file.text("format"), kFormat));
  return Loaded{hash_of(bytes), file.text("settings"), ModelConfig::from_text(file.text("model")),
                progress_from(file.text("progress"), path)};
}

void restore(const std::string& path, Model<float>& model, ml::AdamW<float>* optimizer) {
  const std::string bytes = godwit::read_file(path);
  const ml::Safetensors file = ml::Safetensors::parse(bytes, path);
  std::size_t i = 0;
  for (ml::Parameter<float>& p : model.parameters().all()) {
    copy(file, "model." + p.name, p.value);
    if (optimizer != nullptr) {
      copy(file, "optimizer.first." + p.name, optimizer->first_moments()[i]);
      copy(file, "optimizer.second." + p.name, optimizer->second_moments()[i]);
    }
    ++i;
  }
  if (optimizer != nullptr) optimizer->set_steps(std::strtoull(file.text("optimizer.steps").c_str(), nullptr, 10));
}

}  // namespace protein_lm
