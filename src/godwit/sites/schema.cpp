#include "godwit/sites/schema.h"

namespace godwit::sites {

const std::vector<std::string>& executor_names() {
  static const std::vector<std::string> names{"local", "annex", "htcondor", "slurm"};
  return names;
}

const schema::Keys& site_keys() {
  using namespace schema;
  static const Keys keys{
      {"executor", "What runs the jobs there; an annex where there is an allocation or a log-in, else local.",
       one_of(executor_names())},
      {"cpus", "Processor cores that one job gets.", integer(1)},
      {"mem", "Memory that one job gets: 128GB, or a number of megabytes.", memory()},
      {"mem_mb", "The same under its older name.", memory()},
      {"disk", "Disk that one job gets: 40GB, or a number of kilobytes.", memory()},
      {"gpus", "GPUs that one job gets.", integer(0)},
      {"gpu_type", "Kind of GPU, as the site's scheduler calls it.", text()},
      {"gpu_memory", "Memory of each GPU: 80GB, or a number of megabytes.", memory()},
      {"slots", "How many such jobs run at once.", integer(1)},
      {"lifetime", "How long the site takes jobs once started: 48h, 2d, or a number of seconds.", duration()},
      {"queue", "Queue or partition of the site's scheduler.", text()},
      {"allocation", "Account that pays.", text()},
      {"login_name", "The user's name there.", text()},
      {"login_node", "The host to log in to.", text()},
      {"two_factor_auth", "Whether a person must be there to log in.", boolean()},
      {"labels", "Words to choose sites by.", texts()},
      {"setup", "Shell lines before each job, such as module load.", texts()},
      {"speed", "How fast jobs run there, relative to 1.", number()},
      {"power", "Watts that a busy slot takes.", number()},
      {"attributes", "The user's own values, for braces: {resource.NAME}.", mapping_of(text())},
  };
  return keys;
}

Json sites_schema() {
  using namespace schema;
  Json fields = mapping(site_keys());
  Keys with_name = site_keys();
  with_name.push_back({"name", "The site's name.", text()});
  return any_of({mapping_of(std::move(fields)), list_of(mapping(with_name, {"name"}))});
}

Json file_schema() {
  using namespace schema;
  const Keys wrapped{{"sites", "The sites by name.", sites_schema()}};
  return document(any_of({mapping(wrapped, {"sites"}, true), sites_schema()}), "Godwit's sites.yaml");
}

}  // namespace godwit::sites
