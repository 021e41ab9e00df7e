/* Numbers, texts and bytes there and back; every truncation of them is refused, and so is every other
 * spelling. */
#include <limits.h>

#include "record/codec.h"
#include "tests/check.h"
#include "tests/random.h"

enum colour { RED, GREEN, BLUE, COLOURS };

struct all {
    uint64_t u64;
    int64_t i64;
    int128_t i128;
    uint32_t u32;
    int32_t i32;
    int bounded;
    size_t count;
    bool flag;
    double real;
    enum colour colour;
    char text[8];
    unsigned char bytes[3];
};

static void visit(struct codec *codec, struct all *all)
{
    codec_u64(codec, &all->u64);
    codec_i64(codec, &all->i64);
    codec_i128(codec, &all->i128);
    codec_u32(codec, &all->u32);
    codec_i32(codec, &all->i32);
    codec_int(codec, &all->bounded, -5, 5);
    codec_size(codec, &all->count, 100);
    codec_bool(codec, &all->flag);
    codec_double(codec, &all->real);
    codec_enum(codec, &all->colour, COLOURS);
    codec_text(codec, all->text, sizeof all->text);
    codec_bytes(codec, all->bytes, sizeof all->bytes);
}

static bool same(const struct all *a, const struct all *b)
{
    return a->u64 == b->u64 && a->i64 == b->i64 && a->i128 == b->i128 && a->u32 == b->u32 &&
           a->i32 == b->i32 && a->bounded == b->bounded && a->count == b->count && a->flag == b->flag &&
           memcmp(&a->real, &b->real, sizeof a->real) == 0 && a->colour == b->colour &&
           memcmp(a->text, b->text, sizeof a->text) == 0 && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static void there_and_back(struct codec *codec, struct all all)
{
    struct codec in;
    struct all read = {0};
    codec_save(codec);
    visit(codec, &all);
    CHECK(!codec->failed);
    codec_load(&in, codec->bytes, codec->len);
    visit(&in, &read);
    CHECK(codec_complete(&in) && same(&all, &read));
    for (size_t len = 0; len < codec->len; len++) {
        codec_load(&in, codec->bytes, len);
        visit(&in, &read);
        CHECK(in.failed && !codec_complete(&in));
    }
}

static bool refuses(const void *bytes, size_t len)
{
    struct codec in;
    uint64_t value = 7;
    codec_load(&in, bytes, len);
    codec_u64(&in, &value);
    return in.failed && value == 7;
}

int main(void)
{
    struct codec codec = {0};
    static const int64_t edges[] = {0,   1,   -1,        63,        64,        -64,      -65,
                                    127, 128, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        there_and_back(&codec, (struct all){.u64 = (uint64_t)edges[i],
                                            .i64 = edges[i],
                                            .i128 = (int128_t)edges[i] * INT64_MAX,
                                            .u32 = (uint32_t)edges[i],
                                            .i32 = (int32_t)edges[i],
                                            .text = "a\xc3\xa9"});
    struct random random = {1};
    for (int i = 0; i < 10000; i++) {
        uint64_t word = random_next(&random) >> random_next(&random) % 64;
        struct all all = {.u64 = word,
                          .i64 = (int64_t)random_next(&random),
                          .u32 = (uint32_t)word,
                          .i32 = (int32_t)random_next(&random),
                          .bounded = (int)random_between(&random, -5, 5),
                          .count = (size_t)random_between(&random, 0, 100),
                          .flag = random_chance(&random, 50),
                          .colour = (enum colour)random_between(&random, 0, 2),
                          .text = "seven b",
                          .bytes = {1, 2, 255}};
        memcpy(&all.real, &word, sizeof word);
        all.i128 = (int128_t)all.i64 * (int128_t)(word >> 1);
        there_and_back(&codec, all);
    }
    CHECK(refuses("\x80\x00", 2));                                      /* 0 in two bytes */
    CHECK(refuses("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10));     /* 65 bits */
    CHECK(refuses("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11)); /* and more */
    CHECK(!refuses("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10));

    struct codec in;
    char text[4] = "old";
    codec_load(&in,
               "\x02"
               "a\0",
               3); /* a text with an end in the middle */
    codec_text(&in, text, sizeof text);
    CHECK(in.failed && strcmp(text, "old") == 0);
    codec_load(&in,
               "\x04"
               "abcd",
               5);
    codec_text(&in, text, sizeof text);
    CHECK(in.failed && strcmp(text, "old") == 0);
    enum colour colour = GREEN;
    codec_load(&in, "\x06", 1); /* 3 */
    codec_enum(&in, &colour, COLOURS);
    CHECK(in.failed && colour == GREEN);
    codec_finish(&codec);
    return check_done("record/codec");
}
