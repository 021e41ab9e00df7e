/* Whether a device has room: an own share, and the cap for all, at each bound. Figures in MiB, by hand. */
#include <errno.h>

#include "tests/check.h"
#include "trainer/ppo/room.h"

static size_t mib(size_t n)
{
    return n << 20;
}

struct example {
    const char *what;
    size_t total, used, held, context, entered, coming, more;
    bool settled;
    double cap;
    int sharers, right;
};

static const struct example examples[] = {
    {"alone, up to the cap", 1000, 0, 0, 0, 0, 0, 800, false, 0.8, 0, 0},
    {"and one above it", 1000, 0, 0, 0, 0, 0, 801, false, 0.8, 0, -ENOMEM},
    {"what it holds counts", 1000, 300, 200, 100, 0, 0, 500, false, 0.8, 1, 0},
    {"and its context", 1000, 300, 200, 100, 0, 0, 501, false, 0.8, 1, -ENOMEM},
    {"what others hold", 1000, 400, 0, 100, 0, 0, 400, false, 0.8, 1, 0},
    {"what others hold, above", 1000, 400, 0, 100, 0, 0, 401, false, 0.8, 1, -ENOMEM},
    {"what is coming to others", 1000, 400, 0, 100, 450, 150, 250, false, 0.8, 1, 0},
    {"what is coming to others, above", 1000, 400, 0, 100, 450, 150, 251, false, 0.8, 1, -ENOMEM},
    /* Of the 450 that others will hold they have 300, or 400 as some came: the same room. */
    {"settled", 1000, 400, 0, 100, 450, 150, 250, true, 0.8, 1, 0},
    {"settled, above", 1000, 400, 0, 100, 450, 150, 251, true, 0.8, 1, -ENOMEM},
    {"settled, some came", 1000, 500, 0, 100, 450, 150, 250, true, 0.8, 1, 0},
    {"settled, some came, above", 1000, 500, 0, 100, 450, 150, 251, true, 0.8, 1, -ENOMEM},
    {"not settled, some came", 1000, 500, 0, 100, 450, 150, 250, false, 0.8, 1, -ENOMEM},
    {"settled, beside one that enters nothing", 1000, 700, 0, 100, 450, 0, 100, true, 0.8, 1, 0},
    {"settled, beside one, above", 1000, 700, 0, 100, 450, 0, 101, true, 0.8, 1, -ENOMEM},
    /* The first of eight, and the last one: others' 700 MiB do not count against its share. */
    {"the first of eight", 1000, 0, 0, 20, 0, 0, 80, false, 0.8, 8, 0},
    {"the last of eight", 1000, 720, 0, 20, 0, 0, 80, false, 0.8, 8, 0},
    {"above an eighth", 1000, 0, 0, 20, 0, 0, 81, false, 0.8, 8, -ENOMEM},
    {"an eighth, and no room", 1000, 721, 0, 20, 0, 0, 80, false, 0.8, 8, -ENOMEM},
    {"others have all", 1000, 900, 0, 0, 0, 0, 0, false, 0.8, 1, -ENOMEM},
    {"an estimate above what is used", 1000, 50, 0, 100, 0, 0, 700, false, 0.8, 1, 0},
    {"more than there is", 1000, 0, 0, 0, 0, 0, SIZE_MAX >> 21, false, 1, 1, -ENOMEM},
};

int main(void)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        const struct ppo_room room = {.total = mib(e->total),
                                      .used = mib(e->used),
                                      .held = mib(e->held),
                                      .context = mib(e->context),
                                      .entered = {mib(e->entered), mib(e->coming)},
                                      .settled = e->settled,
                                      .more = mib(e->more)};
        const struct ppo_params params = {.memory_cap = e->cap, .sharers = e->sharers};
        char err[PPO_ERROR_MAX] = "";
        int r = ppo_room_check(&room, &params, err);
        CHECK_INT(r, e->right);
        CHECK((r == 0) == (err[0] == '\0'));
        if (r != e->right)
            fprintf(stderr, "%s: %s\n", e->what, err);
    }
    const struct ppo_room room = {.total = mib(1000),
                                  .used = mib(640),
                                  .held = mib(30),
                                  .context = mib(20),
                                  .entered = {mib(100), mib(70)},
                                  .more = mib(60)};
    const struct ppo_params params = {.memory_cap = 0.8, .sharers = 8};
    char err[PPO_ERROR_MAX] = "";
    CHECK_INT(ppo_room_check(&room, &params, err), -ENOMEM);
    CHECK_STR(err, "out of memory: above its share: 110 > 100 MiB: this process would hold 110 MiB, and its "
                   "share is 100 MiB; other processes have 660 MiB; of the device's 1000 MiB memory_cap 0.8 "
                   "is 800 MiB: a higher memory_cap, fewer copies or workers or narrower networks would be "
                   "right");
    /* A byte too much of a whole number of MiB. */
    const struct ppo_room full = {.total = mib(300), .used = mib(132), .settled = true, .more = mib(108) + 1};
    const struct ppo_params alone = {.memory_cap = 0.8, .sharers = 1};
    CHECK_INT(ppo_room_check(&full, &alone, err), -ENOMEM);
    CHECK_STR(err,
              "out of memory: together above memory_cap: 109 + 132 > 240 MiB: this process would hold 109 "
              "MiB, and its share is 240 MiB; other processes have 132 MiB; of the device's 300 MiB "
              "memory_cap 0.8 is 240 MiB: a higher memory_cap, fewer copies or narrower networks would be "
              "right");
    return check_done("trainer/ppo/room");
}
