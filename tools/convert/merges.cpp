// Depends on refusal, model/check_tokenizer.hpp and text/utf8.hpp.
#include "tools/convert/merges.hpp"

#include <algorithm>
#include <unordered_map>

#include "model/check_tokenizer.hpp"
#include "text/utf8.hpp"
#include "tools/convert/refusal.hpp"

namespace minnow::convert {

namespace {

// The text of a token on its way to becoming one: what encoding has made of it so far.
struct Part {
  std::uint32_t begin;  // in the token's text
  std::uint32_t id;
  std::uint32_t rank;    // of the merge with the next part; kNoId: there is none
  std::uint32_t result;  // of that merge
};

// Merges parts as encoding does, down to two. Returns their merge, with the result kNoId if it does not come to that.
// `join(parts, i)` sets rank and result of parts[i], which has a next one.
template <class Join>
Merge last_merge(std::vector<Part>* parts, const Join& join) {
  std::vector<Part>& p = *parts;
  const Merge none = {kNoId, kNoId, kNoId, kNoId};
  if (p.size() < 2) return none;
  for (std::size_t i = 0; i + 1 < p.size(); ++i) join(p, i);
  p.back().rank = kNoId;
  while (p.size() > 2) {
    const auto lower = [](const Part& a, const Part& b) { return a.rank < b.rank; };
    const std::size_t best = static_cast<std::size_t>(std::min_element(p.begin(), p.end(), lower) - p.begin());
    if (p[best].rank == kNoId) return none;
    p[best].id = p[best].result;
    p.erase(p.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    if (best + 1 < p.size()) {
      join(p, best);
    } else {
      p[best].rank = kNoId;
    }
    if (best > 0) join(p, best - 1);
  }
  return p[0].rank == kNoId ? none : Merge{p[0].id, p[1].id, p[0].rank, p[0].result};
}

// The work on a token grows with the square of its length. The squares add up to 20 millions at most in real
// vocabularies.
class WorkLimit {
 public:
  void count(std::string_view piece) {
    done_ += std::uint64_t{piece.size()} * piece.size();
    if (done_ > kLimit)
      refuse("the tokens are too long, one is ", quoted(piece.substr(0, 40)), "; expected short ones");
  }

 private:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 27;
  std::uint64_t done_ = 0;
};

class RankedMerges {
 public:
  RankedMerges(const std::vector<std::uint32_t>& ranks, Vocabulary* vocabulary)
      : ranks_(ranks), vocabulary_(*vocabulary), by_bytes_(vocabulary->kind == TokenizerKind::byte_level_bpe) {
    std::vector<bool> is_byte(ranks.size(), false);
    for (const std::uint32_t id : vocabulary->byte_id) {
      if (id != kNoId) is_byte[id] = true;
    }
    ids_.reserve(ranks.size());
    for (std::uint32_t id = 0; id < ranks.size(); ++id) {
      if (by_bytes_ || !is_byte[id]) ids_.emplace(vocabulary_.pieces[id], id);
    }
  }

  void find() {
    for (std::uint32_t id = 0; id < ranks_.size(); ++id) {
      const std::string_view piece = vocabulary_.pieces[id];
      if (ranks_[id] == kNoId) continue;
      limit_.count(piece);
      if (!start(piece)) continue;
      const Merge merge = last_merge(&parts_, [this, piece](std::vector<Part>& parts, std::size_t i) {
        const std::size_t end = i + 2 < parts.size() ? parts[i + 2].begin : piece.size();
        const auto found = ids_.find(piece.substr(parts[i].begin, end - parts[i].begin));
        parts[i].rank = found == ids_.end() ? kNoId : ranks_[found->second];
        parts[i].result = found == ids_.end() ? kNoId : found->second;
      });
      if (merge.result != kNoId) vocabulary_.merges.push_back(merge);
    }
  }

 private:
  // What encoding starts from; false if a character is no token, so that nothing merges across it.
  bool start(std::string_view piece) {
    parts_.clear();
    for (std::size_t at = 0; at < piece.size();) {
      std::size_t length = 1;
      std::uint32_t id = kNoId;
      if (by_bytes_) {
        id = vocabulary_.byte_id[static_cast<unsigned char>(piece[at])];
      } else {
        length = std::max<std::size_t>(utf8_length(piece.substr(at)), 1);
        const auto found = ids_.find(piece.substr(at, length));
        if (found == ids_.end()) return false;
        id = found->second;
      }
      parts_.push_back({static_cast<std::uint32_t>(at), id, kNoId, kNoId});
      at += length;
    }
    return true;
  }

  const std::vector<std::uint32_t>& ranks_;
  Vocabulary& vocabulary_;
  bool by_bytes_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;  // of the tokens that take part in merges
  std::vector<Part> parts_;
  WorkLimit limit_;
};

void require_short(const Vocabulary& vocabulary) {
  for (const Merge& merge : vocabulary.merges) {
    const std::string& piece = vocabulary.pieces[merge.result];
    if (piece.size() > kMaxMergedBytes) {
      refuse("the token ", quoted(std::string_view(piece).substr(0, 20)), " of id ", merge.result, " has ",
             piece.size(), " bytes; expected at most ", kMaxMergedBytes);
    }
  }
}

std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

}  // namespace

void add_merges(const std::vector<std::uint32_t>& ranks, Vocabulary* vocabulary) {
  RankedMerges(ranks, vocabulary).find();
  require_short(*vocabulary);
}

void drop_unused_merges(Vocabulary* vocabulary) {
  const std::vector<Merge>& merges = vocabulary->merges;
  std::vector<std::uint32_t> makers(vocabulary->pieces.size(), 0);  // how many merges make each token
  std::unordered_map<std::uint64_t, const Merge*> of_pair;
  of_pair.reserve(merges.size());
  for (const Merge& merge : merges) {
    ++makers[merge.result];
    if (!of_pair.emplace(pair_key(merge.left, merge.right), &merge).second) {
      refuse("two merges are of ", quoted(vocabulary->pieces[merge.left]), " and ",
             quoted(vocabulary->pieces[merge.right]), "; expected each pair once");
    }
  }
  const auto join = [&of_pair](std::vector<Part>& parts, std::size_t i) {
    const auto found = of_pair.find(pair_key(parts[i].id, parts[i + 1].id));
    parts[i].rank = found == of_pair.end() ? kNoId : found->second->rank;
    parts[i].result = found == of_pair.end() ? kNoId : found->second->result;
  };
  std::vector<Merge> kept;
  std::vector<Part> parts;
  WorkLimit limit;
  for (const Merge& merge : merges) {
    if (makers[merge.result] > 1) {
      const std::string& piece = vocabulary->pieces[merge.result];
      limit.count(piece);
      parts.clear();
      for (std::size_t at = 0; at < piece.size(); ++at) {
        const std::uint32_t id = vocabulary->byte_id[static_cast<unsigned char>(piece[at])];
        parts.push_back({static_cast<std::uint32_t>(at), id, kNoId, kNoId});
      }
      const Merge used = last_merge(&parts, join);
      if (used.left != merge.left || used.right != merge.right) continue;
    }
    kept.push_back(merge);
  }
  vocabulary->merges = std::move(kept);
  require_short(*vocabulary);
}

}  // namespace minnow::convert
