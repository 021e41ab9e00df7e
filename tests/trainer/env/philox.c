/* The generator against Random123's known answers (its kat_vectors, philox4x32 with 10 rounds), and what is
 * made of its words. */
#include "trainer/env/philox.h"
#include "tests/check.h"

static void known_answers(void)
{
    static const struct answer {
        uint32_t counter[4], key[2], word[4];
    } answers[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const struct answer *a = &answers[i];
        uint64_t key = (uint64_t)a->key[1] << 32 | a->key[0];
        struct philox got = philox(key, a->counter[0], a->counter[1], a->counter[2], a->counter[3]);
        for (int k = 0; k < 4; k++)
            CHECK_INT(got.word[k], a->word[k]);
    }
}

static void ranges(void)
{
    CHECK(philox_between(0, 2, 4) == 2);
    CHECK(philox_between(0x80000000u, 2, 4) == 3);
    CHECK(philox_between(0xffffffffu, 2, 4) < 4);
    CHECK(philox_between(0xffffffffu, 0.0025, 0.0025) == 0.0025);
    CHECK_INT(philox_below(0, 10), 0);
    CHECK_INT(philox_below(0xffffffffu, 10), 9);
    CHECK_INT(philox_below(0xffffffffu, 1), 0);
}

int main(void)
{
    known_answers();
    ranges();
    return check_done("trainer/env/philox");
}
