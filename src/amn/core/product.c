/* Products of rows with a weight: a few rows at once, all sums in registers. */

#include "arithmetic.h"

const float most_exponent = 126.0f;

enum { BLOCK = LANES == 16 ? 7 : 6 }; /* rows that are taken at once: enough to keep a processor busy, and no more */

typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* A few rows times some columns of a weight, all sums in registers. */
INLINE void block(int rows, int vectors, size_t inputs, size_t outputs, const float *const *in, const float *weight,
                  float *const *out, size_t column) {
    lanes sums[BLOCK][4];
#pragma GCC unroll 7
    for (int row = 0; row < rows; row++)
#pragma GCC unroll 4
        for (int vector = 0; vector < vectors; vector++) sums[row][vector] = (lanes){0};
    for (size_t i = 0; i < inputs; i++) {
        lanes columns[4];
#pragma GCC unroll 4
        for (int vector = 0; vector < vectors; vector++)
            columns[vector] = *(const lanes *)(weight + i * outputs + column + (size_t)vector * LANES);
#pragma GCC unroll 7
        for (int row = 0; row < rows; row++)
#pragma GCC unroll 4
            for (int vector = 0; vector < vectors; vector++) sums[row][vector] += in[row][i] * columns[vector];
    }
#pragma GCC unroll 7
    for (int row = 0; row < rows; row++)
#pragma GCC unroll 4
        for (int vector = 0; vector < vectors; vector++)
            *(lanes *)(out[row] + column + vector * LANES) = sums[row][vector];
}

/* The same for the last few columns: with what follows them in memory, which is not kept. */
INLINE void rest_of_block(int rows, size_t inputs, size_t outputs, const float *const *in, const float *weight,
                          float *const *out, size_t column) {
    lanes sums[BLOCK];
#pragma GCC unroll 7
    for (int row = 0; row < rows; row++) sums[row] = (lanes){0};
    for (size_t i = 0; i < inputs; i++)
#pragma GCC unroll 7
        for (int row = 0; row < rows; row++) sums[row] += in[row][i] * *(const lanes *)(weight + i * outputs + column);
    for (int row = 0; row < rows; row++) memcpy(out[row] + column, &sums[row], (outputs - column) * sizeof(float));
}

INLINE void blocks(int rows, int vectors, size_t inputs, size_t outputs, const float *const *in, const float *weight,
                   float *const *out) {
    size_t column = 0;
    for (; column + (size_t)vectors * LANES <= outputs; column += (size_t)vectors * LANES)
        block(rows, vectors, inputs, outputs, in, weight, out, column);
    for (; column + LANES <= outputs; column += LANES) block(rows, 1, inputs, outputs, in, weight, out, column);
    if (column < outputs) rest_of_block(rows, inputs, outputs, in, weight, out, column);
}

#define CASE(count, vectors) \
    case count: blocks(count, vectors, inputs, outputs, in, weight, out); break

void product(size_t rows, size_t inputs, size_t outputs, const float *const *in, const float *weight, float *const *out) {
    while (rows) {
        size_t some = rows <= BLOCK ? rows : rows < 2 * BLOCK ? (rows + 1) / 2 : BLOCK; /* no block of very few at the end */
        switch (some) {
            CASE(1, 4);
            CASE(2, 4);
            CASE(3, 4);
            CASE(4, 2);
            CASE(5, 2);
            CASE(6, 2);
#ifdef __AVX512F__
            CASE(7, 2);
#endif
            default: break;
        }
        rows -= some, in += some, out += some;
    }
}
