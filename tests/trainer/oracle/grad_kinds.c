/* Writes a batch as `papertape-trainer grad-check` does, of kinds of networks that it does not offer:
 *
 *     grad-kinds KIND F.safetensors */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/grad_batch.h"

static const struct {
    const char *name;
    struct grad_batch_options options;
} kinds[] = {
    {"norm",
     {.shape = {.observation = 7,
                .actions = 3,
                .n_pi = 2,
                .pi = {17, 5},
                .n_vf = 1,
                .vf = {23},
                .layer_norm = true},
      .rows = 29,
      .steps = 1,
      .seed = 41}},
    {"discrete",
     {.shape = {.observation = 5,
                .actions = 3,
                .levels = 5,
                .n_pi = 1,
                .pi = {13},
                .n_vf = 2,
                .vf = {8, 8},
                .activation = NET_RELU},
      .rows = 31,
      .steps = 1,
      .seed = 42}},
    {"shared",
     {.shape =
          {.observation = 9, .actions = 2, .n_pi = 2, .pi = {21, 11}, .shared = true, .activation = NET_SILU},
      .rows = 33,
      .steps = 1,
      .seed = 43}},
    {"minGRU",
     {.shape =
          {.observation = 6, .actions = 2, .n_pi = 1, .pi = {19}, .n_vf = 1, .vf = {10}, .recurrent = 16},
      .rows = 5 * 9,
      .steps = 9,
      .seed = 44}},
    {"minGRU-shared",
     {.shape = {.observation = 3,
                .actions = 1,
                .n_pi = 1,
                .pi = {15},
                .shared = true,
                .recurrent = 32,
                .activation = NET_RELU},
      .rows = 7 * 8,
      .steps = 8,
      .seed = 45}},
    {"everything",
     {.shape = {.observation = 13,
                .actions = 2,
                .levels = 3,
                .n_pi = 2,
                .pi = {18, 9},
                .shared = true,
                .layer_norm = true,
                .recurrent = 16,
                .activation = NET_SILU},
      .rows = 4 * 11,
      .steps = 11,
      .seed = 46,
      .loss = {.clip_range_vf = 0.25}}},
    {"no-hidden",
     {.shape = {.observation = 5, .actions = 2, .recurrent = 16}, .rows = 3 * 6, .steps = 6, .seed = 47}},
};

int main(int argc, char **argv)
{
    char err[NET_ERROR_MAX], why[SAFETENSORS_ERROR_MAX];
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        struct grad_batch_options options = kinds[i].options;
        struct grad_batch *batch;
        options.loss.clip_range = 0.2;
        options.loss.vf_coef = 0.5;
        options.loss.ent_coef = 0.01;
        if (trainer_grad_batch_create(&options, &batch, err) < 0) {
            fprintf(stderr, "grad-kinds: %s: %s\n", argv[1], err);
            return EXIT_FAILURE;
        }
        int r = trainer_grad_batch_write(batch, argv[2], why);
        if (r < 0)
            fprintf(stderr, "grad-kinds: %s\n", why);
        trainer_grad_batch_destroy(batch);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    fputs("usage: grad-kinds KIND F.safetensors\n", stderr);
    return 2;
}
