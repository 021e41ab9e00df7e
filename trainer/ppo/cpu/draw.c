#include "trainer/ppo/cpu/draw.h"

#include "trainer/ppo/draw.h"
#include "trainer/ppo/shuffle.h"

/* Blocks of four words that are drawn side by side: the compiler vectorises every loop over them. */
enum { LANES = 64 };

struct lanes {
    uint32_t word[4][LANES];
    float number[4][LANES];
};

/* philox() of all lanes, a round at a time. */
static void philox_lanes(uint64_t key, uint32_t (*word)[LANES])
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        for (int i = 0; i < LANES; i++) {
            const uint64_t a = (uint64_t)0xD2511F53u * word[0][i], b = (uint64_t)0xCD9E8D57u * word[2][i];
            word[0][i] = (uint32_t)(b >> 32) ^ word[1][i] ^ k0;
            word[1][i] = (uint32_t)b;
            word[2][i] = (uint32_t)(a >> 32) ^ word[3][i] ^ k1;
            word[3][i] = (uint32_t)a;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

static void normals(struct lanes *lanes)
{
    for (int pair = 0; pair < 4; pair += 2)
        for (int i = 0; i < LANES; i++)
            ppo_normals(lanes->word[pair][i], lanes->word[pair + 1][i], &lanes->number[pair][i],
                        &lanes->number[pair + 1][i]);
}

static void uniforms(struct lanes *lanes)
{
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < LANES; i++)
            lanes->number[k][i] = ppo_uniform(lanes->word[k][i]);
}

void ppo_draw_rows(uint64_t seed, uint64_t run_step, size_t copies, size_t n, bool uniform, size_t first,
                   size_t end, float *ret)
{
    const size_t blocks = (n + 3) / 4; /* of a row */
    size_t row = first, block = 0;
    size_t copy = first % copies;
    uint64_t step = run_step + first / copies;
    while (row < end) {
        struct lanes lanes = {0};
        float *to[LANES];
        size_t wanted[LANES];
        int used = 0;
        for (; used < LANES && row < end; used++) {
            lanes.word[0][used] = (uint32_t)copy;
            lanes.word[1][used] = (uint32_t)step;
            lanes.word[2][used] = (uint32_t)(step >> 32);
            lanes.word[3][used] = (uint32_t)PPO_DRAW_ACTION << 24 | (uint32_t)block;
            to[used] = ret + row * n + 4 * block;
            wanted[used] = n - 4 * block < 4 ? n - 4 * block : 4;
            if (++block == blocks) {
                block = 0;
                row++;
                if (++copy == copies) {
                    copy = 0;
                    step++;
                }
            }
        }
        philox_lanes(seed, lanes.word);
        if (uniform)
            uniforms(&lanes);
        else
            normals(&lanes);
        for (int i = 0; i < used; i++)
            for (size_t k = 0; k < wanted[i]; k++)
                to[i][k] = lanes.number[k][i];
    }
}

/* Places whose rows lie beyond the last are shuffled again, packed, so that each round is vectorised. */
void ppo_draw_order(const struct ppo_shuffle *shuffle, size_t first, size_t end, uint32_t *ret)
{
    enum { PLACES = 256 };
    const struct ppo_shuffle mine = *shuffle;
    for (; first < end; first += PLACES) {
        uint32_t row[PLACES], place[PLACES], left = end - first < PLACES ? (uint32_t)(end - first) : PLACES;
        for (uint32_t i = 0; i < left; i++) {
            row[i] = (uint32_t)first + i;
            place[i] = i;
        }
        while (left > 0) {
            uint32_t beyond = 0;
            for (uint32_t i = 0; i < left; i++)
                row[i] = ppo_shuffle_once(&mine, row[i]);
            for (uint32_t i = 0; i < left; i++) {
                const uint32_t at = row[i], to = place[i];
                ret[first + to] = at;
                row[beyond] = at;
                place[beyond] = to;
                beyond += at >= mine.n;
            }
            left = beyond;
        }
    }
}
