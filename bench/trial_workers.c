/* Trials of a search on this processor: one worker of N threads against N workers of one, in turns in the
 * same run, and where a trial's time goes. One JSON line a figure (see bench/run for the keys):
 *
 * - WIDTH-trials-1xN, WIDTH-trials-Nx1: trials an hour, the middle of ROUNDS rounds; an odd machine shares
 *   its cores with others, so rounds of both take turns and
 * - WIDTH-workers-over-threads is the middle of their ratios, with the least and the most;
 * - WIDTH-opening: the share of the bars, and of the splits' features, in the processor's time of a worker
 *   from its beginning to the end of its first trial; WIDTH-training: of trainings in that time;
 *   WIDTH-training-again: in the second trial's; the rest of a trial are mostly its tests;
 * - WIDTH-trial: core seconds of the second trial.
 *
 * A trial: cpcv:5,2, market14 on 20,000 hourly bars of two assets, 20,480 steps a split; the environment's
 * preset is "cappuccino", as it was of earlier figures.
 *
 *     trial_workers FOLDER      for the bars, and what the trials write */
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"
#include "trainer/study/trial.h"

enum { ROWS = 20000, ROUNDS = 7, STEPS = 20480, TEXT = 4096, CORES_MAX = 64 };

static const char *folder;

static void die(const char *why)
{
    fprintf(stderr, "trial_workers: %s\n", why);
    exit(EXIT_FAILURE);
}

static void write_bars(const char *name, uint64_t seed)
{
    char path[1024];
    double close = 100;
    snprintf(path, sizeof path, "%s/%s_1h.csv", folder, name);
    FILE *out = fopen(path, "we");
    if (!out)
        die(path);
    fputs("timestamp,open,high,low,close,volume\n", out);
    for (int r = 0; r < ROWS; r++) {
        double before = close;
        close *= 1 + 0.01 * (bench_uniform(&seed) - 0.5);
        fprintf(out, "%lld,%.4f,%.4f,%.4f,%.4f,%.4f\n", 1600000000LL / 3600 * 3600 + 3600LL * r, before,
                fmax(before, close) * 1.001, fmin(before, close) * 0.999, close,
                1 + 9 * bench_uniform(&seed));
    }
    if (fclose(out) != 0)
        die(path);
}

static void configure(struct train_config *config, struct study_settings *settings, int width, int threads)
{
    char text[TEXT], err[CONFIG_ERROR_MAX];
    bool is_study;
    snprintf(text, sizeof text,
             "[training]\ntotal_steps = %d\nthreads = %d\ndevice = cpu\n"
             "[network]\npolicy_layers = %d,%d\nvalue_layers = %d,%d\n"
             "[ppo]\ncopies = 8\nsteps = 256\nminibatch = 512\nepochs = 4\n"
             "[environment]\npreset = cappuccino\nepisode_bars = 500\nrandom_start = true\n"
             "[data]\nbars = %.900s/AAAUSDT_1h.csv,%.900s/BBBUSDT_1h.csv\nfeatures = market14\n"
             "[study]\nvalidation = cpcv:5,2\n[search]\ngamma = 0.9..0.99\n",
             STEPS, threads, width, width, width, width, folder, folder);
    if (study_settings_parse("bench", text, config, settings, &is_study, err) < 0)
        die(err);
}

/* The processor's time in trainings, by when progress says that one begins and ends. */
struct clock {
    double since, training, last;
};

static enum trial_go on_progress(void *ctx, double share, double steps_s)
{
    struct clock *clock = ctx;
    double now = bench_cpu_seconds();
    (void)share;
    if (clock->last == steps_s) /* a training begins: its first call, nothing done yet */
        clock->since = now;
    else if (clock->since > 0)
        clock->training += now - clock->since, clock->since = now;
    clock->last = steps_s;
    return TRIAL_GO;
}

static void run_trial(const struct study_market *market, const struct train_config *config, int worker,
                      struct clock *clock)
{
    char path[1100], err[TRIAL_ERROR_MAX];
    struct trial_outcome *outcome = bench_room(1, sizeof *outcome);
    const struct trial_calls calls = {.ctx = clock, .progress = clock ? on_progress : NULL};
    snprintf(path, sizeof path, "%s/%d", folder, worker);
    if (study_trial_run(market, config, path, &calls, outcome, err) != 0)
        die(err);
    free(outcome);
}

/* N workers that each do one trial after one that is not counted; trials an hour. */
static double rate(int workers, int width, int threads)
{
    pid_t pids[CORES_MAX];
    int ready[2], go[2];
    char byte = 0;
    if (pipe(ready) < 0 || pipe(go) < 0)
        die("pipe");
    fflush(NULL);
    for (int i = 0; i < workers; i++)
        if ((pids[i] = fork()) == 0) {
            struct train_config *config = bench_room(1, sizeof *config);
            struct study_settings settings;
            struct study_market *market;
            char err[TRIAL_ERROR_MAX];
            configure(config, &settings, width, threads);
            if (study_market_open(config, &settings, NULL, &market, err) < 0)
                die(err);
            run_trial(market, config, i, NULL);
            if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
                die("pipe");
            run_trial(market, config, i, NULL);
            study_market_close(market);
            _exit(EXIT_SUCCESS);
        }
    for (int i = 0; i < workers; i++)
        if (read(ready[0], &byte, 1) != 1)
            die("a worker");
    double started = bench_seconds();
    for (int i = 0; i < workers; i++)
        if (write(go[1], &byte, 1) != 1)
            die("pipe");
    for (int i = 0; i < workers; i++) {
        int how;
        if (waitpid(pids[i], &how, 0) < 0 || how != 0)
            die("a worker failed");
    }
    double seconds = bench_seconds() - started;
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
    return workers / seconds * 3600;
}

static void line(int width, const char *what, double value, const char *unit)
{
    printf("{\"bench\":\"trial_workers\",\"case\":\"%d-%s\",\"value\":%.6g,\"unit\":\"%s\"}\n", width, what,
           value, unit);
    fflush(stdout);
}

static void shares(int width)
{
    struct train_config *config = bench_room(1, sizeof *config);
    struct study_settings settings;
    struct study_market *market;
    struct clock first = {0}, second = {0};
    char err[TRIAL_ERROR_MAX];
    configure(config, &settings, width, 1);
    double started = bench_cpu_seconds();
    if (study_market_open(config, &settings, NULL, &market, err) < 0)
        die(err);
    double opened = bench_cpu_seconds();
    run_trial(market, config, 0, &first);
    double once = bench_cpu_seconds();
    run_trial(market, config, 0, &second);
    double twice = bench_cpu_seconds();
    line(width, "opening", (opened - started) / (once - started), "share");
    line(width, "training", first.training / (once - started), "share");
    line(width, "training-again", second.training / (twice - once), "share");
    line(width, "trial", twice - once, "core seconds");
    study_market_close(market);
    study_settings_finish(&settings);
    free(config);
}

static void compare(int width, int cores)
{
    double threads[ROUNDS], workers[ROUNDS], ratio[ROUNDS];
    char what[64];
    for (int i = 0; i < ROUNDS; i++) {
        threads[i] = rate(1, width, cores);
        workers[i] = rate(cores, width, 1);
        ratio[i] = workers[i] / threads[i];
    }
    qsort(threads, ROUNDS, sizeof *threads, bench_by_value);
    qsort(workers, ROUNDS, sizeof *workers, bench_by_value);
    qsort(ratio, ROUNDS, sizeof *ratio, bench_by_value);
    snprintf(what, sizeof what, "trials-1x%d", cores);
    line(width, what, threads[ROUNDS / 2], "trials/h");
    snprintf(what, sizeof what, "trials-%dx1", cores);
    line(width, what, workers[ROUNDS / 2], "trials/h");
    line(width, "workers-over-threads", ratio[ROUNDS / 2], "ratio");
    line(width, "workers-over-threads-least", ratio[0], "ratio");
    line(width, "workers-over-threads-most", ratio[ROUNDS - 1], "ratio");
}

int main(int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    folder = argc > 1 ? argv[1] : ".";
    cores = cores < CORES_MAX ? cores : CORES_MAX;
    write_bars("AAAUSDT", 1);
    write_bars("BBBUSDT", 2);
    for (int width = 64; width <= 256; width *= 4) {
        shares(width);
        compare(width, (int)cores);
    }
    return EXIT_SUCCESS;
}
