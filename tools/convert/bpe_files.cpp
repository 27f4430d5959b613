// GPT-2's vocab.bpe, alone, or as merges.txt with the ids of vocab.json. Depends on byte_level, json_reader, lines and
// refusal.
#include <unordered_set>

#include "tools/convert/byte_level.hpp"
#include "tools/convert/json_reader.hpp"
#include "tools/convert/lines.hpp"
#include "tools/convert/merges.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert {

namespace {

constexpr std::string_view kEndOfText = "<|endoftext|>";
constexpr std::size_t kGpt2Merges = 50000;

struct MergeLine {
  std::string_view left;
  std::string_view right;
  std::size_t number;
};

// "left right", after a first line "#version: 0.2" that may be missing.
std::vector<MergeLine> split_merges(std::string_view text) {
  std::vector<MergeLine> merges;
  Lines lines(text);
  std::size_t empty = 0;  // the first of the empty lines; only the end has them
  for (std::string_view line; lines.next(&line);) {
    if (lines.number() == 1 && line.substr(0, 8) == "#version") continue;
    if (line.empty()) {
      if (empty == 0) empty = lines.number();
      continue;
    }
    if (empty != 0) refuse("line ", empty, " is empty; expected a merge, two tokens with a space between them");
    const std::size_t space = line.find(' ');
    const std::string_view right = space == std::string_view::npos ? "" : line.substr(space + 1);
    if (space == 0 || right.empty() || right.find(' ') != std::string_view::npos) {
      refuse("line ", lines.number(), " is ", quoted(line), "; expected a merge, two tokens with a space between them");
    }
    merges.push_back({line.substr(0, space), right, lines.number()});
    if (merges.size() > kMaxVocabularyTokens) refuse("there are more than ", kMaxVocabularyTokens, " merges");
  }
  if (merges.empty()) refuse("there are no merges; expected lines of two tokens; is the file whole?");
  return merges;
}

// Calls `add` for each merge; what it throws gets the line's number.
template <class Add>
void for_each_merge(const std::vector<MergeLine>& merges, const Add& add) {
  std::size_t number = 0;
  try {
    for (const MergeLine& merge : merges) {
      number = merge.number;
      add(merge);
    }
  } catch (const Refusal& refusal) {
    refuse("line ", number, ": ", refusal.what());
  }
}

bool looks_special(std::string_view token) {
  return token.size() > 2 &&
         ((token.front() == '<' && token.back() == '>') || (token.front() == '[' && token.back() == ']'));
}

JsonTree read_ids(std::string text, const char* what) {
  JsonTree tree = read_json(std::move(text), what);
  if (!tree.is(tree.root(), JsonKind::object)) {
    refuse(what, " is ", JsonTree::kind_name(tree.kind(tree.root())), "; expected an object of tokens and ids");
  }
  for (JsonTree::Items items = tree.items(tree.root()); !items.done();) {
    const JsonId token = items.take();
    const JsonId id = items.take();
    if (!tree.is(id, JsonKind::integer)) {
      refuse(what, ": the id of ", quoted(tree.text(token)), " is ", JsonTree::kind_name(tree.kind(id)),
             "; expected a whole number");
    }
  }
  return tree;
}

}  // namespace

Vocabulary read_merges(std::string_view text, std::uint64_t rows) {
  const std::vector<MergeLine> merges = split_merges(text);
  const std::size_t special = 256 + merges.size();
  ByteLevelBuilder builder(rows > special ? special + 1 : special);
  std::int64_t id = 0;
  for (const unsigned char byte : builder.symbols().order()) builder.add_token(builder.symbols().symbol(byte), id++);
  for_each_merge(merges, [&](const MergeLine& merge) {
    builder.add_token(std::string(merge.left).append(merge.right), id++);
    builder.add_merge(merge.left, merge.right);
  });
  if (rows > special) builder.add_special(kEndOfText, id);
  Vocabulary out = builder.finish();
  if (merges.size() != kGpt2Merges) out.note = "ids taken in the order of the merges, as in GPT-2";
  return out;
}

Vocabulary read_merges_with_ids(const MergesWithIds& files) {
  const std::vector<MergeLine> merges = split_merges(files.merges);
  std::unordered_set<std::string> made;
  for (const MergeLine& merge : merges) made.insert(std::string(merge.left).append(merge.right));
  const JsonTree ids = read_ids(files.ids, "the vocabulary");
  const JsonTree added = read_ids(files.added.empty() ? "{}" : files.added, "added_tokens.json");

  std::unordered_map<std::string_view, std::int64_t> special;
  for (JsonTree::Items items = added.items(added.root()); !items.done();) {
    const std::string_view token = added.text(items.take());
    special.emplace(token, added.integer(items.take()));
  }
  std::size_t more = special.size();  // that are not in the vocabulary
  for (JsonTree::Items items = ids.items(ids.root()); !items.done(); items.take()) {
    more -= special.count(ids.text(items.take()));
  }
  ByteLevelBuilder builder(ids.count(ids.root()) + more);
  for (JsonTree::Items items = ids.items(ids.root()); !items.done();) {
    const std::string_view token = ids.text(items.take());
    const std::int64_t id = ids.integer(items.take());
    const auto known = special.find(token);
    if (known != special.end()) {
      if (known->second != id)
        refuse("the token ", quoted(token), " has the id ", id, " but ", known->second, " in added_tokens.json");
    } else if (looks_special(token) && made.count(std::string(token)) == 0) {
      special.emplace(token, id);
    } else {
      builder.add_token(token, id);
    }
  }
  for (const auto& [token, id] : special) builder.add_special(token, id);
  for_each_merge(merges, [&](const MergeLine& merge) { builder.add_merge(merge.left, merge.right); });
  return builder.finish();
}

}  // namespace minnow::convert
