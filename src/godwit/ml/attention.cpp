#include "godwit/ml/attention.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "godwit/ml/eigen.h"
#include "godwit/ml/rows.h"
#include "godwit/ml/shapes.h"

namespace godwit::ml {

RelativePositions chain_positions(std::size_t length, std::size_t clip) {
  RelativePositions positions{length, 2 * clip + 1, {}};
  const auto limit = static_cast<std::ptrdiff_t>(clip);
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t j = 0; j < length; ++j)
      positions.bucket.push_back(static_cast<std::uint16_t>(
          std::clamp(static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i), -limit, limit) + limit));
  return positions;
}

RelativePositions graph_positions(std::span<const std::uint8_t> contact, std::size_t length, std::size_t clip) {
  RelativePositions positions{length, clip + 1,
                              std::vector<std::uint16_t>(length * length, static_cast<std::uint16_t>(clip))};
  for (std::size_t from = 0; from < length; ++from) {
    std::uint16_t* distance = positions.bucket.data() + from * length;
    distance[from] = 0;
    std::vector<std::size_t> shell{from};
    for (std::uint16_t step = 1; step < clip && !shell.empty(); ++step) {
      std::vector<std::size_t> next;
      for (std::size_t i : shell)
        for (std::size_t j = 0; j < length; ++j)
          if (contact[i * length + j] && distance[j] > step) {
            distance[j] = step;
            next.push_back(j);
          }
      shell = std::move(next);
    }
  }
  return positions;
}

namespace {

// One head of one sequence: [length, d_head] inside [n length, heads d_head].
template <class T>
using Head = Eigen::Map<RowMajor<T>, 0, Eigen::OuterStride<>>;
template <class T>
using ConstHead = Eigen::Map<const RowMajor<T>, 0, Eigen::OuterStride<>>;

struct Geometry {
  std::size_t sequences, length, heads, width, buckets;

  std::size_t pairs() const { return sequences * heads; }
};

template <class T>
ConstHead<T> head_of(const Tensor<T>& t, const Geometry& g, std::size_t pair) {
  const std::size_t sequence = pair / g.heads, head = pair % g.heads;
  return {t.row(sequence * g.length) + head * g.width, index(g.length), index(g.width),
          Eigen::OuterStride<>(index(g.heads * g.width))};
}
template <class T>
Head<T> head_of(Tensor<T>& t, const Geometry& g, std::size_t pair) {
  const std::size_t sequence = pair / g.heads, head = pair % g.heads;
  return {t.row(sequence * g.length) + head * g.width, index(g.length), index(g.width),
          Eigen::OuterStride<>(index(g.heads * g.width))};
}

// Which pairs of places belong to a bucket, as rows of ones and zeros: sums over the pairs of a bucket then vectorize,
// which scattering by bucket would not.
template <class T>
class Masks {
 public:
  explicit Masks(const RelativePositions& positions)
      : length_(positions.length),
        buckets_(positions.buckets),
        rows_({positions.length * positions.buckets, positions.length}) {
    for (std::size_t i = 0; i < length_; ++i)
      for (std::size_t j = 0; j < length_; ++j) rows_.at(i * buckets_ + positions.bucket[i * length_ + j], j) = T(1);
  }

  // scores[i, j] += per_bucket[i, bucket(i, j)]
  void spread(RowMajor<T>& scores, const RowMajor<T>& per_bucket) const {
    for (std::size_t i = 0; i < length_; ++i)
      for (std::size_t b = 0; b < buckets_; ++b)
        add_scaled_row(scores.data() + i * length_, rows_.row(i * buckets_ + b), per_bucket(index(i), index(b)),
                       length_);
  }
  // per_bucket[i, b] = the sum of weights[i, j] where bucket(i, j) = b
  void gather(RowMajor<T>& per_bucket, const T* weights) const {
    for (std::size_t i = 0; i < length_; ++i)
      for (std::size_t b = 0; b < buckets_; ++b)
        per_bucket(index(i), index(b)) = dot_row(weights + i * length_, rows_.row(i * buckets_ + b), length_);
  }

 private:
  std::size_t length_, buckets_;
  Tensor<T> rows_;
};

template <class T>
Tensor<T> forward(Tensor<T>& probabilities, const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v,
                  const Tensor<T>& key_table, const Tensor<T>& value_table, const RelativePositions& positions,
                  const Geometry& g, Tensor<T> out) {
  const T factor = T(1) / std::sqrt(static_cast<T>(g.width));
  const Masks<T> masks(positions);
  RowMajor<T> scores(index(g.length), index(g.length)), per_bucket(index(g.length), index(g.buckets));
  for (std::size_t pair = 0; pair < g.pairs(); ++pair) {
    const auto query = head_of(q, g, pair);
    scores.noalias() = query * head_of(k, g, pair).transpose();
    per_bucket.noalias() = query * matrix(key_table).transpose();
    masks.spread(scores, per_bucket);
    scores *= factor;
    for (std::size_t i = 0; i < g.length; ++i) softmax_row(scores.data() + i * g.length, g.length);
    std::copy_n(scores.data(), g.length * g.length, probabilities.row(pair));
    masks.gather(per_bucket, scores.data());
    auto result = head_of(out, g, pair);
    result.noalias() = scores * head_of(v, g, pair);
    result.noalias() += per_bucket * matrix(value_table);
  }
  return out;
}

// The inputs of one attention, as the way back needs them.
struct Inputs {
  Var q, k, v, key_table, value_table, probabilities;
};

template <class T>
void backward(Tape<T>& tape, const Inputs& in, const Tensor<T>& from, const RelativePositions& positions,
              const Geometry& g) {
  const T factor = T(1) / std::sqrt(static_cast<T>(g.width));
  const Tensor<T>&q = tape.value(in.q), &k = tape.value(in.k), &v = tape.value(in.v);
  const auto key_table = matrix(tape.value(in.key_table)), value_table = matrix(tape.value(in.value_table));
  Tensor<T>&dq = tape.gradient(in.q), &dk = tape.gradient(in.k), &dv = tape.gradient(in.v);
  RowMajor<T> dkey = RowMajor<T>::Zero(key_table.rows(), key_table.cols()), dvalue = dkey;
  const Masks<T> masks(positions);
  RowMajor<T> scores(index(g.length), index(g.length)), per_bucket(index(g.length), index(g.buckets));
  for (std::size_t pair = 0; pair < g.pairs(); ++pair) {
    const T* weights = tape.value(in.probabilities).row(pair);
    const ConstMatrix<T> p(weights, index(g.length), index(g.length));
    const auto d = head_of(from, g, pair);
    head_of(dv, g, pair).noalias() += p.transpose() * d;
    masks.gather(per_bucket, weights);
    dvalue.noalias() += per_bucket.transpose() * d;
    scores.noalias() = d * head_of(v, g, pair).transpose();
    per_bucket.noalias() = d * value_table.transpose();
    masks.spread(scores, per_bucket);
    for (std::size_t i = 0; i < g.length; ++i)
      softmax_row_backward(scores.data() + i * g.length, weights + i * g.length, factor, g.length);
    masks.gather(per_bucket, scores.data());
    const auto query = head_of(q, g, pair);
    auto into = head_of(dq, g, pair);
    into.noalias() += scores * head_of(k, g, pair);
    into.noalias() += per_bucket * key_table;
    head_of(dk, g, pair).noalias() += scores.transpose() * query;
    dkey.noalias() += per_bucket.transpose() * query;
  }
  if (tape.needs_gradient(in.key_table)) matrix(tape.gradient(in.key_table)) += dkey;
  if (tape.needs_gradient(in.value_table)) matrix(tape.gradient(in.value_table)) += dvalue;
}

template <class T>
Geometry checked_geometry(const Tensor<T>& q, const Tensor<T>& k, const Tensor<T>& v, const Tensor<T>& key_table,
                          const Tensor<T>& value_table, const RelativePositions& positions, std::size_t heads) {
  require_shape(q.shape() == k.shape() && q.shape() == v.shape(), "relative_attention", q.shape(), k.shape());
  require_shape(heads != 0 && q.cols() % heads == 0 && positions.length != 0 && q.rows() % positions.length == 0,
                "relative_attention", q.shape(), {positions.length, heads});
  const Geometry g{q.rows() / positions.length, positions.length, heads, q.cols() / heads, positions.buckets};
  const Shape table{g.buckets, g.width};
  require_shape(key_table.shape() == table, "relative_attention", table, key_table.shape());
  require_shape(value_table.shape() == table, "relative_attention", table, value_table.shape());
  return g;
}

}  // namespace

template <class T>
Var relative_attention(Tape<T>& tape, Var q, Var k, Var v, Var key_table, Var value_table,
                       const RelativePositions& positions, std::size_t heads) {
  const Geometry g = checked_geometry(tape.value(q), tape.value(k), tape.value(v), tape.value(key_table),
                                      tape.value(value_table), positions, heads);
  Tensor<T> kept = tape.scratch({g.pairs(), g.length * g.length});
  Tensor<T> out = forward(kept, tape.value(q), tape.value(k), tape.value(v), tape.value(key_table),
                          tape.value(value_table), positions, g, tape.scratch(tape.value(q).shape()));
  const Inputs inputs{q, k, v, key_table, value_table, tape.constant(std::move(kept))};
  const bool needs = tape.needs_gradient(q) || tape.needs_gradient(k) || tape.needs_gradient(v) ||
                     tape.needs_gradient(key_table) || tape.needs_gradient(value_table);
  return tape.record(std::move(out), needs, [inputs, &positions, g](Tape<T>& t, Var self) {
    backward(t, inputs, std::as_const(t.gradient(self)), positions, g);
  });
}

template Var relative_attention<float>(Tape<float>&, Var, Var, Var, Var, Var, const RelativePositions&, std::size_t);
template Var relative_attention<double>(Tape<double>&, Var, Var, Var, Var, Var, const RelativePositions&, std::size_t);

}  // namespace godwit::ml
