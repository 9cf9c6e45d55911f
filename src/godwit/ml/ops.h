// The operations a tape knows. Matrices are row-major, one row per token, variant or example. Every operation throws
// Error where shapes do not fit. Instantiated for float and double; each has a gradient check in ops_test.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "godwit/ml/random.h"
#include "godwit/ml/tape.h"

namespace godwit::ml {

// [n, k] x [k, m] -> [n, m]
template <class T>
Var matmul(Tape<T>& tape, Var a, Var b);

// x W + b: [n, in] x [in, out] + [out] -> [n, out]
template <class T>
Var linear(Tape<T>& tape, Var x, Var weight, Var bias);

// Row ids[i] of `table` becomes row i: [rows, d] -> [ids, d].
template <class T>
Var embedding(Tape<T>& tape, Var table, std::span<const std::int32_t> ids);

// Elementwise, of one shape.
template <class T>
Var add(Tape<T>& tape, Var a, Var b);
template <class T>
Var mul(Tape<T>& tape, Var a, Var b);
template <class T>
Var scale(Tape<T>& tape, Var a, T factor);

// Adds `rows` [r, d] to each block of r rows of x [n r, d]: a learned position for each place of a sequence.
template <class T>
Var add_rows(Tape<T>& tape, Var x, Var rows);

template <class T>
Var relu(Tape<T>& tape, Var x);
// The tanh form of the Gaussian error linear unit (Hendrycks & Gimpel 2016).
template <class T>
Var gelu(Tape<T>& tape, Var x);

// Each row to mean 0 and variance 1, then * gain + bias (Ba et al. 2016).
template <class T>
Var layer_norm(Tape<T>& tape, Var x, Var gain, Var bias, T epsilon = T(1e-5));

// Over each row.
template <class T>
Var softmax(Tape<T>& tape, Var x);

// Each element is zeroed with probability p, the rest divided by 1 - p.
template <class T>
Var dropout(Tape<T>& tape, Var x, double p, Random& random);

// The mean of each `length` rows: [n length, d] -> [n, d].
template <class T>
Var mean_pool(Tape<T>& tape, Var x, std::size_t length);

// The sum of all elements: -> [1].
template <class T>
Var sum(Tape<T>& tape, Var x);

// Mean over rows of the squared error summed over columns, that is the sum over tasks of each task's mean squared
// error: [n, tasks] -> [1]. `target` is not differentiated.
template <class T>
Var squared_error(Tape<T>& tape, Var prediction, const Tensor<T>& target);

// Mean over rows of -log softmax(logits)[class]: [n, classes] -> [1].
template <class T>
Var cross_entropy(Tape<T>& tape, Var logits, std::span<const std::int32_t> classes);

}  // namespace godwit::ml
