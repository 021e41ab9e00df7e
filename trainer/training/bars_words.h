/* Errors of bars files name the options of `papertape`, which loads the same files; the trainer has keys. */
#ifndef TRAINER_TRAINING_BARS_WORDS_H
#define TRAINER_TRAINING_BARS_WORDS_H

#include <stddef.h>

/* Of a configuration: its keys; of `eval`: the options that it has. What neither has is left out. */
enum bars_words { BARS_WORDS_KEYS, BARS_WORDS_EVAL, BARS_WORDS_KINDS };

/* Replaces them in the sentence, in place, of `size` bytes at most. */
void training_bars_words(enum bars_words kind, char *words, size_t size);

#endif
