/* Sums, products and gates of rows of numbers: plain loops, which a compiler turns into vector instructions. */

#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define SIMD _Pragma("omp simd")
#define SIMD_SUM(name) _Pragma(SIMD_TEXT(omp simd reduction(+ : name)))
#define SIMD_TEXT(text) #text

#ifdef __AVX512F__
enum { LANES = 16 };
#else
enum { LANES = 8 };
#endif

extern const float most_exponent; /* 126. A limit that the compiler does not know costs one instruction, not several. */

/* 2^n times a polynomial, which is 2^f within 2e-9 for the remainder f. What is no number counts as very small. */
INLINE float exponential(float x) {
    float t = x * 1.44269504f;
    t = t > -most_exponent ? t : -most_exponent;
    t = t < most_exponent ? t : most_exponent;
    float n = rintf(t), f = t - n;
    float p = 0.000153375775f;
    p = p * f + 0.00133998599f;
    p = p * f + 0.0096185198f;
    p = p * f + 0.0555032901f;
    p = p * f + 0.240226462f;
    p = p * f + 0.693147182f;
    p = p * f + 1.0f;
    int32_t bits = ((int32_t)n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* So many or a few more, so that none is left over for a loop of vectors. */
INLINE size_t padded(size_t count) { return (count + LANES - 1) / LANES * LANES; }

/* Zeros that begin with a line of the cache, as vectors that are read from there should; NULL where there is no room. */
INLINE void *aligned_zeros(size_t bytes) {
    size_t whole = (bytes + 63) / 64 * 64;
    void *made = aligned_alloc(64, whole);
    return made ? memset(made, 0, whole) : NULL;
}

INLINE float tangent(float x) { return 1.0f - 2.0f / (exponential(2.0f * x) + 1.0f); }

INLINE float sigmoid(float x) { return 1.0f / (exponential(-x) + 1.0f); }

/* The greater of two; the first where the second is no number. */
INLINE float greater(float a, float b) { return b > a ? b : a; }

INLINE float dot(size_t size, const float *a, const float *b) {
    float sum = 0;
    SIMD_SUM(sum)
    for (size_t i = 0; i < size; i++) sum += a[i] * b[i];
    return sum;
}

/* What `rms_norm` multiplies a state by. */
INLINE float scale_of(size_t hidden, float epsilon, const float *state) {
    return 1.0f / sqrtf(dot(hidden, state, state) / (float)hidden + epsilon);
}

INLINE void normalise(size_t hidden, float epsilon, const float *state, float *out) {
    float scale = scale_of(hidden, epsilon, state);
    SIMD
    for (size_t i = 0; i < hidden; i++) out[i] = state[i] * scale;
}

INLINE void add(size_t size, const float *values, float *to) {
    SIMD
    for (size_t i = 0; i < size; i++) to[i] += values[i];
}

/* Rows times a weight (inputs x outputs), wherever the rows are. After the weight there is room for LANES numbers more. */
void product(size_t rows, size_t inputs, size_t outputs, const float *const *in, const float *weight, float *const *out);

/* The same for one row. */
INLINE void project(size_t inputs, size_t outputs, const float *in, const float *weight, float *out) {
    const float *from[] = {in};
    float *const into[] = {out};
    product(1, inputs, outputs, from, weight, into);
}

/* One step of a GRU for one row, from W x + b (`gates`) and U h (`parts`); `bias` is that of the new state's U h. */
static inline void gated(size_t hidden, const float *gates, const float *parts, const float *bias, const float *state,
                         float *out) {
    SIMD
    for (size_t i = 0; i < hidden; i++) {
        float reset = sigmoid(gates[i] + parts[i]);
        float update = sigmoid(gates[hidden + i] + parts[hidden + i]);
        float new = tangent(gates[2 * hidden + i] + reset * (parts[2 * hidden + i] + bias[i]));
        out[i] = new + update * (state[i] - new);
    }
}
