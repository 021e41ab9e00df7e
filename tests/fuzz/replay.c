/* A fuzzer's corpus through its entry point, then those inputs changed at random: for compilers without
 * libFuzzer. replay FOLDER [CHANGED]. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

enum { INPUT_MAX = 1 << 14, INPUTS_MAX = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv); /* some have one */

static struct input {
    uint8_t bytes[INPUT_MAX];
    size_t size;
} inputs[INPUTS_MAX];

static size_t read_folder(const char *path)
{
    DIR *folder = opendir(path);
    size_t n = 0;
    for (struct dirent *entry; folder && n < INPUTS_MAX && (entry = readdir(folder));) {
        char name[1024];
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(name, "rb");
        if (!file)
            continue;
        inputs[n].size = fread(inputs[n].bytes, 1, INPUT_MAX, file);
        n++;
        fclose(file);
    }
    if (folder)
        closedir(folder);
    return n;
}

/* In a block of exactly its size, so that ASan sees a step past. */
static void play(const struct input *input)
{
    uint8_t *copy = malloc(input->size ? input->size : 1);
    if (!copy)
        abort();
    memcpy(copy, input->bytes, input->size);
    LLVMFuzzerTestOneInput(copy, input->size);
    free(copy);
}

static void change(struct input *input, struct random *random)
{
    for (int64_t left = random_between(random, 1, 6); left > 0; left--) {
        if (input->size < INPUT_MAX && random_chance(random, 20))
            input->bytes[input->size++] = (uint8_t)random_next(random);
        else if (input->size > 0)
            input->bytes[(size_t)random_between(random, 0, (int64_t)input->size - 1)] =
                (uint8_t)random_next(random);
    }
}

int main(int argc, char **argv)
{
    long changed = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    size_t n = argc > 1 ? read_folder(argv[1]) : 0;
    if (n == 0) {
        fprintf(stderr, "replay: FOLDER: no inputs\n");
        return EXIT_FAILURE;
    }
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (size_t i = 0; i < n; i++)
        play(&inputs[i]);
    struct random random = random_seeded("replay", 20261121);
    for (long i = 0; i < changed; i++) {
        struct input input = inputs[random_between(&random, 0, (int64_t)n - 1)];
        change(&input, &random);
        play(&input);
    }
    printf("counts: %zu inputs, %ld changed ones\n", n, changed);
    return EXIT_SUCCESS;
}
