/* Whole numbers, which count and point at rows. */

#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t whole;
