// Hugging Face's tokenizer.json, as far as it describes what GPT-2 does. Whatever would make other ids of a text is
// refused by the name of its field. Depends on byte_level, json_reader and refusal.
#include <map>

#include "tools/convert/byte_level.hpp"
#include "tools/convert/json_reader.hpp"
#include "tools/convert/refusal.hpp"
#include "tools/convert/vocabulary_readers.hpp"

namespace minnow::convert {

namespace {

constexpr std::string_view kExpected = "; expected GPT-2's byte-level BPE; pass --no-text to use ids only";

class TokenizerJson {
 public:
  explicit TokenizerJson(std::string bytes) : tree_(read_json(std::move(bytes), "the tokenizer")) {
    if (!tree_.is(tree_.root(), JsonKind::object)) {
      refuse("the file holds ", JsonTree::kind_name(tree_.kind(tree_.root())), "; expected an object with \"model\"");
    }
    model_ = tree_.find(tree_.root(), "model");
    if (!tree_.is(model_, JsonKind::object)) refuse("there is no object \"model\"; expected a tokenizer.json");
  }

  Vocabulary read() {
    require_gpt2();
    take_added();
    const JsonId vocab = tree_.find(model_, "vocab");
    if (!tree_.is(vocab, JsonKind::object)) refuse("model.vocab is no object", kExpected);
    std::size_t count = special_.size();
    for (JsonTree::Items items = tree_.items(vocab); !items.done(); items.take()) {
      count += special_.count(tree_.text(items.take())) == 0 ? 1 : 0;
    }
    ByteLevelBuilder builder(count);
    for (JsonTree::Items items = tree_.items(vocab); !items.done();) {
      const std::string_view token = tree_.text(items.take());
      const std::int64_t id = take_id(items.take(), "model.vocab", token);
      const auto known = special_.find(token);
      if (known == special_.end()) {
        builder.add_token(token, id);
      } else if (known->second != id) {
        refuse("the token ", quoted(token), " has the id ", id, " in model.vocab but ", known->second,
               " in added_tokens; expected one");
      }
    }
    for (const auto& [token, id] : special_) builder.add_special(token, id);
    take_merges(&builder);
    return builder.finish();
  }

 private:
  // A field whose value is not the expected one is named with the value.
  [[noreturn]] void refuse_field(std::string_view field, JsonId value) {
    std::string found = "absent";
    if (value != kNoJson) found = JsonTree::kind_name(tree_.kind(value));
    if (tree_.is(value, JsonKind::text)) found = quoted(tree_.text(value));
    if (tree_.is(value, JsonKind::boolean)) found = tree_.integer(value) != 0 ? "true" : "false";
    if (tree_.is(value, JsonKind::object) && tree_.is(tree_.find(value, "type"), JsonKind::text)) {
      found = "of type " + quoted(tree_.text(tree_.find(value, "type")));
    }
    refuse(field, " is ", found, kExpected);
  }

  bool absent(JsonId value) const { return value == kNoJson || tree_.is(value, JsonKind::null); }
  bool is_text(JsonId value, std::string_view text) const {
    return tree_.is(value, JsonKind::text) && tree_.text(value) == text;
  }
  bool is_boolean(JsonId value, bool expected) const {
    return tree_.is(value, JsonKind::boolean) && (tree_.integer(value) != 0) == expected;
  }

  void require_type(std::string_view field, JsonId object, std::string_view type) {
    if (!tree_.is(object, JsonKind::object) || !is_text(tree_.find(object, "type"), type)) refuse_field(field, object);
  }

  void require_gpt2() {
    const JsonId type = tree_.find(model_, "type");  // files of before 2020 leave it out
    if (!absent(type) && !is_text(type, "BPE")) refuse_field("model.type", type);
    for (const char* field : {"byte_fallback", "ignore_merges"}) {
      const JsonId value = tree_.find(model_, field);
      if (!absent(value) && !is_boolean(value, false)) refuse_field(concat("model.", field), value);
    }
    for (const char* field : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const JsonId value = tree_.find(model_, field);
      if (!absent(value) && !is_text(value, "")) refuse_field(concat("model.", field), value);
    }
    const JsonId dropout = tree_.find(model_, "dropout");
    const bool is_number = tree_.is(dropout, JsonKind::real) || tree_.is(dropout, JsonKind::integer);
    const bool none = is_number && tree_.real(dropout) == 0;
    if (!absent(dropout) && !none) refuse_field("model.dropout", dropout);
    const JsonId normalizer = tree_.find(tree_.root(), "normalizer");
    if (!absent(normalizer)) refuse_field("normalizer", normalizer);

    const JsonId pre = tree_.find(tree_.root(), "pre_tokenizer");
    require_type("pre_tokenizer", pre, "ByteLevel");
    const JsonId prefix = tree_.find(pre, "add_prefix_space");
    if (!is_boolean(prefix, false)) refuse_field("pre_tokenizer.add_prefix_space", prefix);
    const JsonId regex = tree_.find(pre, "use_regex");
    if (!absent(regex) && !is_boolean(regex, true)) refuse_field("pre_tokenizer.use_regex", regex);
    require_type("decoder", tree_.find(tree_.root(), "decoder"), "ByteLevel");
    const JsonId post = tree_.find(tree_.root(), "post_processor");  // others put tokens around a text
    if (!absent(post)) require_type("post_processor", post, "ByteLevel");
  }

  std::int64_t take_id(JsonId id, const char* field, std::string_view token) {
    if (!tree_.is(id, JsonKind::integer)) {
      refuse("the id of ", quoted(token), " in ", field, " is ",
             id == kNoJson ? "absent" : JsonTree::kind_name(tree_.kind(id)), "; expected a whole number");
    }
    return tree_.integer(id);
  }

  void take_added() {
    const JsonId added = tree_.find(tree_.root(), "added_tokens");
    if (absent(added)) return;
    if (!tree_.is(added, JsonKind::array)) refuse_field("added_tokens", added);
    for (JsonTree::Items items = tree_.items(added); !items.done();) {
      const JsonId token = items.take();
      const JsonId content = tree_.find(token, "content");
      if (!tree_.is(content, JsonKind::text)) refuse("one of added_tokens has no text \"content\"", kExpected);
      const std::string_view text = tree_.text(content);
      for (const char* field : {"single_word", "lstrip", "rstrip"}) {
        const JsonId value = tree_.find(token, field);
        if (!absent(value) && !is_boolean(value, false)) {
          refuse_field(concat("added_tokens: ", field, " of ", quoted(text)), value);
        }
      }
      if (!special_.emplace(text, take_id(tree_.find(token, "id"), "added_tokens", text)).second) {
        refuse("the token ", quoted(text), " is twice in added_tokens; expected it once");
      }
    }
  }

  // Each is "left right" or ["left", "right"].
  void take_merges(ByteLevelBuilder* builder) {
    const JsonId merges = tree_.find(model_, "merges");
    if (!tree_.is(merges, JsonKind::array)) refuse("model.merges is no array", kExpected);
    std::size_t number = 0;
    try {
      for (JsonTree::Items items = tree_.items(merges); !items.done(); ++number) {
        const JsonId merge = items.take();
        std::string_view left;
        std::string_view right;
        if (tree_.is(merge, JsonKind::text)) {
          const std::string_view both = tree_.text(merge);
          const std::size_t space = both.find(' ');
          left = both.substr(0, space);
          right = space == std::string_view::npos ? "" : both.substr(space + 1);
        } else if (tree_.is(merge, JsonKind::array) && tree_.count(merge) == 2) {
          JsonTree::Items parts = tree_.items(merge);
          const JsonId first = parts.take();
          const JsonId second = parts.take();
          if (tree_.is(first, JsonKind::text)) left = tree_.text(first);
          if (tree_.is(second, JsonKind::text)) right = tree_.text(second);
        }
        if (left.empty() || right.empty()) refuse("is no pair of tokens");
        builder->add_merge(left, right);
      }
    } catch (const Refusal& refusal) {
      refuse("model.merges[", number, "] ", refusal.what());
    }
  }

  JsonTree tree_;
  JsonId model_ = kNoJson;
  std::map<std::string_view, std::int64_t> special_;  // added_tokens
};

}  // namespace

Vocabulary read_tokenizer_json(std::string bytes) { return TokenizerJson(std::move(bytes)).read(); }

}  // namespace minnow::convert
