/* A number that tells contents apart: 64 bits of all bytes, in four chains of xor, multiplication and
 * rotation, at the speed that memory is read. Each step is a bijection of what came before and of the word
 * that comes, so contents that differ in one word never have the same number; others by a chance of about
 * 2^-64. It guards against mistakes, not against someone who looks for a collision. */
#ifndef TRAINER_ENV_FINGERPRINT_H
#define TRAINER_ENV_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from `before`, 0 at first; NULL with 0 bytes is fine. The number of bytes counts, too. */
uint64_t env_fingerprint(uint64_t before, const void *data, size_t bytes);

#endif
