// Depends on provenance.
#include "tools/convert/provenance.hpp"

#include <locale>
#include <sstream>

#include "minnow/minnow.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/messages.hpp"

namespace minnow::convert {

std::vector<std::shared_ptr<const InputFile>> hashed_files(const Checkpoint& checkpoint) {
  std::vector<std::shared_ptr<const InputFile>> out;
  for (const auto& file : checkpoint.files) {
    if (!out.empty() && file->path() == out[0]->path()) continue;  // the same, unpacked
    out.push_back(file);
  }
  return out;
}

std::string make_provenance(const Checkpoint& checkpoint, const std::vector<std::string>& hashes,
                            const Vocabulary& vocabulary, const ModelPlan& plan,
                            const std::vector<std::string>& calibration) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  std::size_t number = 0;
  for (const auto& file : hashed_files(checkpoint)) {
    const std::string hash = number < hashes.size() ? hashes[number] : std::string(64, '0');
    const std::string key = ++number == 1 ? "source" : concat("source_", number);
    out << key << '=' << printable(file_name_of(file->path())) << '\n' << key << "_sha256=" << hash << '\n';
  }
  number = 0;
  for (const Vocabulary::Source& source : vocabulary.sources) {
    const std::string key = ++number == 1 ? "vocabulary" : concat("vocabulary_", number);
    out << key << '=' << printable(source.name) << '\n' << key << "_sha256=" << source.sha256 << '\n';
  }
  out << "converter=minnow " << version() << '\n';
  if (checkpoint.iter_num) out << "iter_num=" << *checkpoint.iter_num << '\n';
  if (checkpoint.best_val_loss) out << "best_val_loss=" << *checkpoint.best_val_loss << '\n';
  out << "type=" << to_string(static_cast<WeightType>(plan.config.weight_type)) << '\n';
  out << "family=" << plan.family << '\n';
  for (const std::string& choice : plan.choices) out << choice << '\n';
  for (const std::string& line : calibration) out << line << '\n';
  return out.str();
}

}  // namespace minnow::convert
