// A model file's forward pass in double precision, written for reading: no cache, no tiles, whole rows. What sessions
// are compared with. Takes the tensors as numbers from hand_built.hpp.
#pragma once

#include <cmath>
#include <vector>

#include "tests/model/hand_built.hpp"

namespace minnow::test {

class PlainModel {
 public:
  using Row = std::vector<double>;

  PlainModel(const HandShape& shape, const std::vector<HandBuilder::Plain>& tensors) : s_(shape), tensors_(tensors) {
    if (s_.n_kv_head == 0) s_.n_kv_head = s_.n_head;
  }

  // Logits after every token, one row each.
  std::vector<Row> logits(const std::vector<Token>& tokens) const {
    std::vector<Row> x;
    for (std::size_t t = 0; t < tokens.size(); ++t) x.push_back(embedded(tokens[t], t));
    for (std::uint32_t layer = 0; layer < s_.n_layer; ++layer) {
      const std::vector<Row> attended = attention(x, layer);
      for (std::size_t t = 0; t < x.size(); ++t) {
        add(x[t], linear(22, 23, layer, attended[t]));
        add(x[t], mlp(normed(24, 25, layer, x[t]), layer));
      }
    }
    std::vector<Row> out;
    for (const Row& row : x) {
      out.push_back(linear(s_.output == 1 ? 66 : 0, 67, kNone, normed(64, 65, kNone, row)));
      for (double& logit : out.back()) logit = s_.softcap != 0 ? s_.softcap * std::tanh(logit / s_.softcap) : logit;
    }
    return out;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  const HandBuilder::Plain* find(std::uint32_t role, std::uint32_t layer = kNone) const {
    for (const HandBuilder::Plain& tensor : tensors_) {
      if (tensor.role == role && tensor.layer == layer) return &tensor;
    }
    return nullptr;
  }

  static void add(Row& x, const Row& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  Row row_of(std::uint32_t role, std::size_t row) const {
    const HandBuilder::Plain& tensor = *find(role);
    const auto begin = tensor.values.begin() + static_cast<std::ptrdiff_t>(row * tensor.columns);
    return Row(begin, begin + tensor.columns);
  }

  Row embedded(Token token, std::size_t position) const {
    Row x = row_of(0, static_cast<std::size_t>(token));
    if (s_.positions < 2) add(x, row_of(1, position));
    return s_.embed_norm != 0 ? normed(3, 4, kNone, x) : x;
  }

  Row linear(std::uint32_t weight, std::uint32_t bias, std::uint32_t layer, const Row& x) const {
    const HandBuilder::Plain& w = *find(weight, layer);
    Row y(w.rows);
    for (std::size_t r = 0; r < y.size(); ++r) {
      for (std::size_t k = 0; k < x.size(); ++k) y[r] += static_cast<double>(w.values[r * w.columns + k]) * x[k];
    }
    if (const HandBuilder::Plain* b = find(bias, layer)) add(y, Row(b->values.begin(), b->values.end()));
    return y;
  }

  Row scaled(Row x, double mean, double square, std::uint32_t weight, std::uint32_t bias, std::uint32_t layer) const {
    const HandBuilder::Plain* const w = find(weight, layer);
    const HandBuilder::Plain* const b = find(bias, layer);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = (x[i] - mean) / std::sqrt(square + static_cast<double>(1e-5f));
      if (w != nullptr) x[i] *= static_cast<double>(w->values[i]);
      if (b != nullptr) x[i] += static_cast<double>(b->values[i]);
    }
    return x;
  }
  static double mean_square(const Row& x, double mean) {
    double sum = 0;
    for (const double v : x) sum += (v - mean) * (v - mean);
    return sum / static_cast<double>(x.size());
  }
  Row rms(std::uint32_t weight, std::uint32_t layer, const Row& x) const {
    return scaled(x, 0, mean_square(x, 0), weight, kNone, layer);
  }
  Row normed(std::uint32_t weight, std::uint32_t bias, std::uint32_t layer, const Row& x) const {
    if (s_.norm == 1) return rms(weight, layer, x);
    double mean = 0;
    for (const double v : x) mean += v / static_cast<double>(x.size());
    return scaled(x, mean, mean_square(x, mean), weight, bias, layer);
  }

  Row head_of(const Row& qkv, std::size_t head) const {
    const auto begin = qkv.begin() + static_cast<std::ptrdiff_t>(head * s_.head_size);
    return Row(begin, begin + s_.head_size);
  }

  void rotate(Row& head, std::size_t position) const {
    const std::size_t pairs = s_.rotary_dims / 2;
    for (std::size_t i = 0; i < pairs; ++i) {
      const double angle = static_cast<double>(find(2)->values[i]) * static_cast<double>(position);
      double& a = head[s_.pairing == 0 ? 2 * i : i];
      double& b = head[s_.pairing == 0 ? 2 * i + 1 : i + pairs];
      const double turned = a * std::cos(angle) - b * std::sin(angle);
      b = b * std::cos(angle) + a * std::sin(angle);
      a = turned;
    }
  }

  // A query or key as attention uses it; weight: the role of its norm's.
  Row prepared(Row head, std::size_t position, std::uint32_t weight, std::uint32_t layer) const {
    if (s_.qk_norm == 1) head = rms(weight, layer, head);
    if (s_.positions == 2) rotate(head, position);
    if (s_.qk_norm == 2) head = rms(weight, layer, head);
    return head;
  }

  // The heads' outputs side by side.
  std::vector<Row> attention(const std::vector<Row>& x, std::uint32_t layer) const {
    std::vector<Row> out(x.size()), qkv;
    for (const Row& row : x) qkv.push_back(linear(18, 19, layer, normed(16, 17, layer, row)));
    const double scale =
        s_.attention_scale != 0 ? static_cast<double>(s_.attention_scale) : 1 / std::sqrt(s_.head_size);
    for (std::size_t h = 0; h < s_.n_head; ++h) {
      const std::size_t shared = s_.n_head + h / (s_.n_head / s_.n_kv_head);  // its key head
      std::vector<Row> keys, values;
      for (std::size_t t = 0; t < x.size(); ++t) {
        keys.push_back(prepared(head_of(qkv[t], shared), t, 21, layer));
        values.push_back(head_of(qkv[t], shared + s_.n_kv_head));
        const Row head = attend(prepared(head_of(qkv[t], h), t, 20, layer), keys, values, scale);
        out[t].insert(out[t].end(), head.begin(), head.end());
      }
    }
    return out;
  }

  static Row attend(const Row& q, const std::vector<Row>& keys, const std::vector<Row>& values, double scale) {
    Row p;
    double largest = -HUGE_VAL, sum = 0;
    for (const Row& key : keys) {
      double score = 0;
      for (std::size_t d = 0; d < q.size(); ++d) score += q[d] * key[d];
      p.push_back(score * scale);
      largest = std::fmax(largest, p.back());
    }
    for (double& v : p) sum += v = std::exp(v - largest);
    Row out(q.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      for (std::size_t d = 0; d < q.size(); ++d) out[d] += p[i] / sum * values[i][d];
    }
    return out;
  }

  double activated(double x) const {
    switch (s_.activation) {
      case 0:
        return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
      case 1:
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
      case 2:
        return std::fmax(x, 0);
      case 3:
        return std::fmax(x, 0) * std::fmax(x, 0);
      default:
        return x;
    }
  }

  Row mlp(const Row& x, std::uint32_t layer) const {
    Row hidden = linear(26, 27, layer, x);
    if (s_.activation == 4) {
      const Row gate = linear(28, 29, layer, x);
      for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= gate[i] / (1 + std::exp(-gate[i]));
    } else {
      for (double& v : hidden) v = activated(v);
    }
    return linear(30, 31, layer, hidden);
  }

  HandShape s_;
  const std::vector<HandBuilder::Plain>& tensors_;
};

}  // namespace minnow::test
