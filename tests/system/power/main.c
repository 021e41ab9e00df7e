/* Power loss of daemon, event log and database together: whole runs on one thread, each drawn by its seed.
 *
 * power [--seeds N] [--seed S] [--echo]: seeds 1 to N (12; 4 under a sanitizer; with PAPERTAPE_LONG
 * 10,000), or one. A failure prints the command that plays it again. */
#include <getopt.h>
#include <time.h>

#include "daemon/log.h"
#include "exchange/clock.h"
#include "tests/system/power/sim.h"

#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 4 };
#else
enum { SEEDS = 12 };
#endif
enum { SEEDS_LONG = 10000, TWICE_EVERY = 10, ROUNDS_MAX = 2, OPENS_MAX = 8 };

/* How a life ends: which call to the disk is its last, and what fails before. */
static struct faulty_plan plan_of(struct sim *sim, bool early)
{
    struct random *random = &sim->random;
    struct faulty_plan plan = {.seed = random_next(random), .slow_max_ns = 10000000000};
    int kind = (int)random_between(random, 0, 3);
    plan.power_at = (uint64_t)random_between(random, 1, early ? 40 : kind == 0 ? 100 : 300);
    if (random_chance(random, 40)) /* written, and not synced */
        plan.power_sync = (uint64_t)random_between(random, 1, early ? 12 : 60);
    plan.sync_slow = kind <= 1 ? 600 : 50;
    plan.sync_lies = plan.seed % 5 == 0 ? 100 : 0;
    if (random_chance(random, 25))
        plan.sync_fails = (int)random_between(random, 10, 120);
    if (random_chance(random, 20)) {
        plan.full_from = (uint64_t)random_between(random, 1, (int64_t)plan.power_at);
        plan.full_to = plan.full_from + (uint64_t)random_between(random, 1, 8);
    }
    return plan;
}

/* The end of a process: the power's, or only its own. */
static void restart(struct sim *sim)
{
    bool killed = random_chance(&sim->random, 50);
    sim_trace(sim, killed ? "killed" : "power", "", (int64_t)faulty_disk_calls(), NULL, 0);
    sim->calls += faulty_disk_calls();
    sim->faults += faulty_disk_faults();
    uint64_t seed = random_next(&sim->random);
    if (killed)
        faulty_disk_killed();
    else
        faulty_disk_restart(seed);
    sim->kills += killed;
    sim->cuts += !killed;
}

/* A life that the plan ends. */
static void live(struct sim *sim, bool early)
{
    struct faulty_plan plan = plan_of(sim, early);
    faulty_disk_resume(&plan);
    int r = sim->lives ? 0 : life_begin(sim);
    for (int i = 0; r < 0 && !faulty_disk_lost() && i < OPENS_MAX; i++) /* the disk failed: another start */
        r = life_begin(sim);
    for (int turns = 0; r == 0 && turns < 400 && !faulty_disk_lost() && !sim->why[0]; turns++)
        sim_turn(sim, 1000000000);
    if (r == 0)
        life_end(sim, !faulty_disk_lost());
    restart(sim);
}

static void play(struct sim *sim, uint64_t seed)
{
    sim_init(sim, seed);
    int rounds = (int)random_between(&sim->random, 1, ROUNDS_MAX);
    for (int round = 0; round < rounds && !sim->why[0]; round++) {
        live(sim, false);
        while (random_chance(&sim->random, 50) && !sim->why[0]) /* and again, mostly while it starts */
            live(sim, random_chance(&sim->random, 40));
        faulty_disk_resume(&(struct faulty_plan){.seed = random_next(&sim->random)});
        if (sim->why[0] || life_begin(sim) < 0) {
            sim_fail(sim, "it does not begin on a sound disk");
            break;
        }
        judge(sim);
    }
    if (sim->lives)
        life_end(sim, true);
    sim_finish(sim);
}

struct totals {
    uint64_t lives, answers, repeats, calls, faults, cuts, kills, aside;
};

static void add(struct totals *totals, const struct sim *sim)
{
    totals->lives += sim->lives_n;
    totals->answers += sim->answers;
    totals->repeats += sim->repeats;
    totals->calls += sim->calls;
    totals->faults += sim->faults;
    totals->cuts += sim->cuts;
    totals->kills += sim->kills;
    totals->aside += sim->aside;
}

/* False: it failed, and how it is played again is printed. */
static bool try_seed(struct sim *sim, uint64_t seed, bool twice, const char *program, struct totals *totals)
{
    play(sim, seed);
    uint64_t trace = sim->trace;
    add(totals, sim);
    if (!sim->why[0] && twice) {
        play(sim, seed);
        if (sim->trace != trace && !sim->why[0])
            sim_fail(sim, "played twice, it went two ways: %016llx and %016llx", (unsigned long long)trace,
                     (unsigned long long)sim->trace);
    }
    if (sim->why[0])
        printf("power: seed %llu: %s\n  again: %s --seed %llu\n", (unsigned long long)seed, sim->why, program,
               (unsigned long long)seed);
    return !sim->why[0];
}

int main(int argc, char **argv)
{
    static struct sim sim;
    static const struct option options[] = {{"seeds", required_argument, NULL, 'n'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"echo", no_argument, NULL, 'e'},
                                            {NULL, 0, NULL, 0}};
    uint64_t first = 1, n = getenv("PAPERTAPE_LONG") ? SEEDS_LONG : SEEDS, failed = 0, played = 0;
    struct totals totals = {0};
    int code;
    while ((code = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (code == '?')
            return 2;
        if (code == 'e')
            sim.echo = true;
        else if (code == 'n')
            n = strtoull(optarg, NULL, 10);
        else
            first = strtoull(optarg, NULL, 10), n = 1;
    }
    daemon_log_init(
        (enum log_level)(sim.echo ? LOG_LEVEL_INFO : -1)); /* failures are logged by the hundred */
    scratch_in_memory();
    faulty_disk_install();
    int64_t began = clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
    for (; played < n && failed < 5; played++)
        failed += !try_seed(&sim, first + played, n == 1 || played % TWICE_EVERY == 0, argv[0], &totals);
    double seconds = (double)(clock_ns_of(CLOCK_PROCESS_CPUTIME_ID) - began) / 1e9;
    printf("counts: %llu seeds (--long: %d)\n", (unsigned long long)played, SEEDS_LONG);
    printf("power: %llu seeds, %llu lives, %llu power cuts, %llu kills, %llu calls to the disk, %llu of them "
           "failed, %llu answers, %llu repeats, %llu logs set aside; %llu failed; %.1f s of CPU\n",
           (unsigned long long)played, (unsigned long long)totals.lives, (unsigned long long)totals.cuts,
           (unsigned long long)totals.kills, (unsigned long long)totals.calls,
           (unsigned long long)totals.faults, (unsigned long long)totals.answers,
           (unsigned long long)totals.repeats, (unsigned long long)totals.aside, (unsigned long long)failed,
           seconds);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
