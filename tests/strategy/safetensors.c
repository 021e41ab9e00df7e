/* safetensors files: what is written is read again; every kind of bad file is refused with what is wrong and
 * where; a write that fails leaves the file as it was.
 *
 * For the oracle (safetensors_oracle.py):
 *   test-safetensors copy IN OUT       reads a file and writes what it read
 *   test-safetensors read F…           a line each: "ok", or why not */
#include "strategy/policy/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"

enum { TENSORS_MAX = 12, PAIRS_MAX = 6 };

/* ---- there and back ---- */

struct made {
    struct safetensors_tensor tensors[TENSORS_MAX];
    struct safetensors_pair pairs[PAIRS_MAX];
    char names[TENSORS_MAX][32], keys[PAIRS_MAX][32], values[PAIRS_MAX][64];
    size_t n, n_pairs;
};

static void make(struct random *random, struct made *made)
{
    static const char *const texts[] = {"", "plain", "quotes \" and \\", "line\nbreaks\t",
                                        "\xc3\xa9\xe2\x82\xac"};
    *made = (struct made){.n = (size_t)random_between(random, 0, TENSORS_MAX),
                          .n_pairs = (size_t)random_between(random, 0, PAIRS_MAX)};
    for (size_t i = 0; i < made->n; i++) {
        struct safetensors_tensor *tensor = &made->tensors[i];
        snprintf(made->names[i], sizeof made->names[i], "%s.%zu", texts[random_between(random, 0, 4)], i);
        tensor->name = made->names[i];
        tensor->type = (enum safetensors_type)random_between(random, 0, 3);
        tensor->n_dims = (int)random_between(random, 0, 4);
        tensor->bytes = safetensors_type_size(tensor->type);
        for (int d = 0; d < tensor->n_dims; d++) {
            tensor->dims[d] = random_between(random, random_chance(random, 10) ? 0 : 1, 6);
            tensor->bytes *= (size_t)tensor->dims[d];
        }
        unsigned char *data = malloc(tensor->bytes + 1);
        for (size_t k = 0; data && k < tensor->bytes; k++)
            data[k] = (unsigned char)random_next(random);
        tensor->data = data;
    }
    for (size_t i = 0; i < made->n_pairs; i++) {
        snprintf(made->keys[i], sizeof made->keys[i], "%s %zu", texts[random_between(random, 0, 4)], i);
        snprintf(made->values[i], sizeof made->values[i], "%s", texts[random_between(random, 0, 4)]);
        made->pairs[i] = (struct safetensors_pair){made->keys[i], made->values[i]};
    }
}

static void made_finish(struct made *made)
{
    for (size_t i = 0; i < made->n; i++)
        free((void *)made->tensors[i].data);
}

static bool same_tensor(const struct safetensors_tensor *a, const struct safetensors_tensor *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->n_dims == b->n_dims &&
           memcmp(a->dims, b->dims, (size_t)a->n_dims * sizeof *a->dims) == 0 && a->bytes == b->bytes &&
           (a->bytes == 0 || memcmp(a->data, b->data, a->bytes) == 0);
}

static void test_round_trips(struct random *random, const char *path, int n)
{
    for (int i = 0; i < n; i++) {
        struct made made;
        struct safetensors *file = NULL;
        char err[SAFETENSORS_ERROR_MAX] = "";
        size_t all, bad = 0;
        make(random, &made);
        CHECK_INT(safetensors_write(path, made.tensors, made.n, made.pairs, made.n_pairs, err), 0);
        CHECK_INT(safetensors_read(path, &file, err), 0);
        CHECK_STR(err, "");
        if (!file)
            continue;
        const struct safetensors_tensor *read = safetensors_all(file, &all);
        CHECK_INT(all, made.n);
        for (size_t k = 0; k < made.n; k++) {
            const struct safetensors_tensor *found = safetensors_find(file, made.tensors[k].name);
            bad += !found || !same_tensor(found, &made.tensors[k]) || found < read || found >= read + all ||
                   (uintptr_t)found->data % safetensors_type_size(found->type) != 0;
        }
        for (size_t k = 0; k < made.n_pairs; k++)
            bad += strcmp(safetensors_metadata(file, made.keys[k]), made.values[k]) != 0;
        CHECK_INT(bad, 0);
        CHECK(!safetensors_find(file, "none") && !safetensors_metadata(file, "none"));
        safetensors_destroy(file);
        made_finish(&made);
    }
    safetensors_destroy(NULL);
}

/* ---- bad files ---- */

static size_t file_of(unsigned char *bytes, size_t header, const char *text, size_t data)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)header >> (8 * i));
    memcpy(bytes + 8, text, strlen(text));
    memset(bytes + 8 + strlen(text), 7, data);
    return 8 + strlen(text) + data;
}

static void refuse(const unsigned char *bytes, size_t n, const char *why)
{
    struct safetensors *file = NULL;
    char err[SAFETENSORS_ERROR_MAX] = "";
    unsigned char *copy = malloc(n ? n : 1); /* of exactly its size, so that ASan sees a step past */
    if (!copy)
        abort();
    memcpy(copy, bytes, n);
    CHECK_INT(safetensors_parse("f", copy, n, &file, err), -EINVAL);
    CHECK(!file);
    if (!strstr(err, why) || strncmp(err, "f: ", 3) != 0) {
        check_failures++;
        fprintf(stderr, "  %s\n  is not about: %s\n", err, why);
    }
    free(copy);
}

static void test_bad(void)
{
#define TENSOR(dtype, shape, offsets) "\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets
#define F32(shape, offsets)           TENSOR("\"F32\"", shape, offsets)
    static const struct {
        const char *header;
        size_t data;
        const char *why;
    } cases[] = {
        {"[]", 0, "header begins with byte 0x5b"},
        {" {}", 0, "header begins with byte 0x20"},
        {"{\"a\":", 0, "no JSON object"},
        {"{}x", 0, "no JSON object"},
        {"{\"a\":\"\xff\"}", 0, "no JSON object"},
        {"{\"a\":1}", 0, "tensor a: an object of dtype"},
        {"{\"a\\n\\u0001b\":1}", 0, "tensor a??b: an object of dtype"},
        {"{\"a\":{" F32("[1]", "[0,4]") ",\"b\":1}}", 4, "tensor a: an object of dtype"},
        {"{\"a\":{" F32("[1]", "[0,4]") "},\"a\":{" F32("[1]", "[4,8]") "}}", 8, "duplicate"},
        {"{\"a\":{" TENSOR("\"F16\"", "[2]", "[0,4]") "}}", 4, "dtype F16: F32, F64, I64 or U8 is right"},
        {"{\"a\":{" TENSOR("3", "[2]", "[0,4]") "}}", 4, "dtype missing"},
        {"{\"a\":{" F32("4", "[0,4]") "}}", 4, "shape: a list of at most 8"},
        {"{\"a\":{" F32("[1,1,1,1,1,1,1,1,1]", "[0,4]") "}}", 4, "shape: a list of at most 8"},
        {"{\"a\":{" F32("[-1]", "[0,4]") "}}", 4, "shape: size 0: a whole number"},
        {"{\"a\":{" F32("[1,1.0]", "[0,4]") "}}", 4, "shape: size 1: a whole number"},
        {"{\"a\":{" F32("[4294967296,4294967296]", "[0,4]") "}}", 4, "larger than any memory"},
        {"{\"a\":{" F32("[9223372036854775807]", "[0,4]") "}}", 4, "larger than any memory"},
        {"{\"a\":{" F32("[1]", "[0]") "}}", 4, "data_offsets: [begin, end]"},
        {"{\"a\":{" F32("[1]", "[0,\"4\"]") "}}", 4, "data_offsets: [begin, end]"},
        {"{\"a\":{" F32("[1]", "[0,8]") "}}", 4, "within the 4 bytes of data"},
        {"{\"a\":{" F32("[1]", "[-4,0]") "}}", 4, "within the 4 bytes of data"},
        {"{\"a\":{" F32("[1]", "[4,0]") "}}", 4, "within the 4 bytes of data"},
        {"{\"a\":{" F32("[2]", "[0,4]") "}}", 4, "its shape of F32 has 8 bytes"},
        {"{\"a\":{" TENSOR("\"F64\"", "[1]", "[0,4]") "}}", 4, "its shape of F64 has 8 bytes"},
        {"{\"a\":{" F32("[1]", "[4,8]") "}}", 8, "begin at 4: 0 is right"},
        {"{\"a\":{" F32("[2]", "[0,8]") "},\"b\":{" F32("[1]", "[4,8]") "}}", 8,
         "tensor b: data_offsets begin"},
        {"{\"a\":{" F32("[1]", "[0,4]") "},\"b\":{" F32("[1]", "[8,12]") "}}", 12, "begin at 8: 4 is right"},
        {"{\"a\":{" F32("[1]", "[0,4]") "}}", 5, "longer than it should be"},
        {"{}", 1, "longer than it should be"},
        {"{\"__metadata__\":1}", 0, "__metadata__: an object of strings"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "__metadata__: k: a string is right"},
        {"{\"__metadata__\":{\"k\":\"\",\"k\":\"\"}}", 0, "duplicate"},
    };
    static unsigned char bytes[4096];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = file_of(bytes, strlen(cases[i].header), cases[i].header, cases[i].data);
        refuse(bytes, n, cases[i].why);
    }
    for (size_t n = 0; n < 8; n++)
        refuse(bytes, n, "a safetensors file has at least 10");
    file_of(bytes, 0, "{}", 0);
    refuse(bytes, 10, "a header of 0 bytes");
    file_of(bytes, 1, "{}", 0);
    refuse(bytes, 10, "a header of 1 bytes");
    file_of(bytes, 3, "{}", 0);
    refuse(bytes, 10, "cut short");
    file_of(bytes, SIZE_MAX, "{}", 0);
    refuse(bytes, 10, "is it a safetensors file?");
    file_of(bytes, SAFETENSORS_HEADER_MAX + 1, "{}", 0);
    refuse(bytes, 10, "is it a safetensors file?");
}

/* A good file cut at every byte, and with every byte changed, is refused or read, and never more. */
static void test_damage(struct random *random, const char *path)
{
    struct made made;
    unsigned char *bytes;
    size_t n, read = 0;
    char err[SAFETENSORS_ERROR_MAX] = "";
    do
        make(random, &made);
    while (made.n < 4 && (made_finish(&made), true));
    CHECK_INT(safetensors_write(path, made.tensors, made.n, made.pairs, made.n_pairs, err), 0);
    CHECK_INT(safetensors_bytes(path, INT64_MAX, &bytes, &n, err), 0);
    for (size_t cut = 0; cut < n; cut++) {
        struct safetensors *file;
        CHECK_INT(safetensors_parse("f", bytes, cut, &file, err), -EINVAL);
    }
    for (size_t at = 0; at < n; at++)
        for (int k = 0; k < 4; k++) {
            struct safetensors *file = NULL;
            unsigned char kept = bytes[at];
            bytes[at] = (unsigned char)random_next(random);
            int r = safetensors_parse("f", bytes, n, &file, err);
            CHECK((r == 0) == (file != NULL) && (r == 0 || r == -EINVAL));
            read += r == 0;
            safetensors_destroy(file);
            bytes[at] = kept;
        }
    printf("counts: a file of %zu bytes cut at each of them, and changed %zu times, %zu of them read\n", n,
           4 * n, read);
    free(bytes);
    made_finish(&made);
}

/* ---- what cannot be written or opened ---- */

static void test_refused_writes(const char *path)
{
    const float one = 1;
    struct safetensors_tensor good = {"a", SAFETENSORS_F32, 1, {1}, &one, sizeof one},
                              twice[2] = {good, good};
    char err[SAFETENSORS_ERROR_MAX] = "", where[SCRATCH_PATH_MAX + 16];
    struct safetensors *file = NULL;
    CHECK_INT(safetensors_write(path, &good, 1, NULL, 0, err), 0);
    CHECK_INT(safetensors_write(path, twice, 2, NULL, 0, err), -EINVAL);
    CHECK(strstr(err, "a: it is there twice"));
    twice[0].bytes = 8;
    CHECK_INT(safetensors_write(path, twice, 1, NULL, 0, err), -EINVAL);
    CHECK(strstr(err, "tensor a: 8 bytes: its shape has 4"));
    twice[0].name = "__metadata__";
    twice[0].bytes = 4;
    CHECK_INT(safetensors_write(path, twice, 1, NULL, 0, err), -EINVAL);
    CHECK_INT(safetensors_write(path, &good, 1, &(struct safetensors_pair){"k", "\xff"}, 1, err), -EINVAL);
    CHECK(strstr(err, "k: UTF-8 is right"));
    CHECK_INT(safetensors_read(path, &file, err), 0); /* as it was */
    safetensors_destroy(file);
    snprintf(where, sizeof where, "%s.none/f", path);
    CHECK_INT(safetensors_write(where, &good, 1, NULL, 0, err), -ENOENT);
    CHECK(strstr(err, "cannot write it: No such file"));
    CHECK_INT(safetensors_read(where, &file, err), -ENOENT);
    CHECK_INT(safetensors_read(scratch_root(), &file, err), -EINVAL);
    CHECK(strstr(err, "it is no file"));
    snprintf(where, sizeof where, "%s.pipe", path);
    CHECK_INT(mkfifo(where, 0600), 0);
    CHECK_INT(safetensors_read(where, &file, err), -EINVAL);
    CHECK_INT(safetensors_write("/dev/full/f", &good, 1, NULL, 0, err), -ENOTDIR);
}

/* ---- for the oracle ---- */

static int copy(const char *from, const char *to)
{
    static const char *const keys[] = {"", "plain", "unicode", "lines", "numbers"};
    struct safetensors *file;
    struct safetensors_pair pairs[8];
    char err[SAFETENSORS_ERROR_MAX];
    size_t n, n_pairs = 0;
    if (safetensors_read(from, &file, err) < 0) {
        fprintf(stderr, "%s\n", err);
        return EXIT_FAILURE;
    }
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (safetensors_metadata(file, keys[k]))
            pairs[n_pairs++] = (struct safetensors_pair){keys[k], safetensors_metadata(file, keys[k])};
    const struct safetensors_tensor *tensors = safetensors_all(file, &n);
    int r = safetensors_write(to, tensors, n, pairs, n_pairs, err);
    if (r < 0)
        fprintf(stderr, "%s\n", err);
    safetensors_destroy(file);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int read_all(char *const paths[])
{
    for (; *paths; paths++) {
        struct safetensors *file = NULL;
        char err[SAFETENSORS_ERROR_MAX];
        puts(safetensors_read(*paths, &file, err) < 0 ? err : "ok");
        safetensors_destroy(file);
    }
    return EXIT_SUCCESS;
}

/* By its size and its first bytes, before memory is taken: a file of 64 GiB that has none on the disk. */
static void test_large(const char *path)
{
    const int64_t size = INT64_C(64) << 30, most = 1 << 20;
    for (int way = 0; way < 3;
         way++) { /* no header at all; one that fits; one that is larger than the file */
        const unsigned char begins[8] = {(unsigned char)(way ? 16 : 0)};
        unsigned char *bytes = NULL;
        size_t n = 0;
        char err[SAFETENSORS_ERROR_MAX] = "";
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        CHECK(fd >= 0 && write(fd, begins, sizeof begins) == (ssize_t)sizeof begins);
        CHECK_INT(ftruncate(fd, way == 2 ? 20 : size), 0);
        close(fd);
        CHECK_INT(safetensors_bytes(path, most, &bytes, &n, err), -EINVAL);
        const char *why = way == 0   ? "is it a safetensors file?"
                          : way == 1 ? "a file of 68719476736 bytes: at most 1048576 are right"
                                     : "the file is cut short";
        CHECK(strstr(err, why) && strncmp(err, path, strlen(path)) == 0);
    }
    CHECK_INT(truncate(path, 24), 0);
    unsigned char *bytes = NULL;
    size_t n = 0;
    char err[SAFETENSORS_ERROR_MAX] = "";
    CHECK_INT(safetensors_bytes(path, 24, &bytes, &n, err), 0);
    CHECK_INT((int64_t)n, 24);
    free(bytes);
    CHECK_INT(safetensors_bytes(path, 23, &bytes, &n, err), -EINVAL);
    CHECK(strstr(err, "at most 23"));
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "copy") == 0)
        return copy(argv[2], argv[3]);
    if (argc > 2 && strcmp(argv[1], "read") == 0)
        return read_all(argv + 2);
    struct random random = random_seeded("safetensors", 20261122);
    char path[SCRATCH_PATH_MAX];
    snprintf(path, sizeof path, "%s/f.safetensors", scratch_root());
    test_round_trips(&random, path, 100);
    test_bad();
    test_damage(&random, path);
    test_refused_writes(path);
    test_large(path);
    return check_done("strategy/safetensors");
}
