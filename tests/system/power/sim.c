#include "tests/system/power/sim.h"

#include <stdarg.h>

#define MS_NS 1000000LL

void sim_fail(struct sim *sim, const char *format, ...)
{
    va_list args;
    if (sim->why[0])
        return;
    va_start(args, format);
    vsnprintf(sim->why, sizeof sim->why, format, args);
    va_end(args);
}

static void mix(struct sim *sim, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        sim->trace = (sim->trace ^ at[i]) * 1099511628211U; /* FNV-1a */
}

void sim_trace(struct sim *sim, const char *what, const char *name, int64_t number, const void *bytes,
               size_t n)
{
    mix(sim, what, strlen(what) + 1);
    mix(sim, name, strlen(name) + 1);
    mix(sim, &number, sizeof number);
    mix(sim, &sim->now_ns, sizeof sim->now_ns);
    mix(sim, bytes, n);
    if (sim->echo)
        printf("%12.6f %-8s %s %lld %zu %016llx\n", (double)sim->now_ns / 1e9, what, name, (long long)number,
               n, (unsigned long long)sim->trace);
}

/* ---- what the disk reports ---- */

static void on_call(void *ctx, const char *what, const char *name, int64_t at, const void *bytes, size_t n,
                    int r)
{
    struct sim *sim = ctx;
    sim_trace(sim, what, name, at, bytes, n);
    mix(sim, &r, sizeof r);
    if (r != 0 && sim->echo)
        printf("%12s it failed: %d\n", "", r);
}

/* A sync takes a while: the loop continues, and so does the other writer. */
static void on_flushing(void *ctx, int64_t ns, bool log)
{
    struct sim *sim = ctx;
    int64_t until = sim->now_ns + ns;
    bool log_busy = sim->log_busy, db_busy = sim->db_busy;
    sim->log_busy |= log;
    sim->db_busy |= !log;
    while (sim->lives && sim->now_ns < until && !faulty_disk_lost())
        sim_turn(sim, until - sim->now_ns < 1000 * MS_NS ? until - sim->now_ns : 1000 * MS_NS);
    if (sim->now_ns < until && !faulty_disk_lost())
        sim->now_ns = until;
    sim->log_busy = log_busy;
    sim->db_busy = db_busy;
}

/* ---- time ---- */

static int64_t clock_now(void *ctx)
{
    return ((struct sim *)ctx)->now_ns;
}

static void clock_pass(void *ctx, int64_t until_ns)
{
    struct sim *sim = ctx;
    if (until_ns == INT64_MAX) {
        fprintf(stderr, "power: seed %llu: a call waits for what never comes\n",
                (unsigned long long)sim->seed);
        abort();
    }
    if (until_ns > sim->now_ns)
        sim->now_ns = until_ns;
}

/* What waits for the log works only while the log does. */
static void work(struct sim *sim)
{
    struct session *session = sim->daemon.session;
    if (!sim->db_busy && !sim->log_busy) {
        sim->db_busy = true;
        db_writer_step(daemon_session_writer(session));
        sim->db_busy = false;
    }
    if (!sim->log_busy) {
        sim->log_busy = true;
        daemon_recorder_step(daemon_session_recorder(session, false));
        sim->log_busy = false;
    }
}

void sim_turn(struct sim *sim, int64_t most_ns)
{
    int64_t step = random_between(&sim->random, MS_NS, 400 * MS_NS);
    sim->now_ns += step < most_ns ? step : most_ns;
    market_move(sim);
    if (random_chance(&sim->random, 60))
        client_act(sim);
    work(sim);
    uv_run(&sim->loop, UV_RUN_NOWAIT);
}

/* ---- one course of events ---- */

static void set(struct sim *sim, const char *section, const char *key, const char *value)
{
    char err[CONFIG_ERROR_MAX];
    if (daemon_config_set(&sim->daemon.config, section, key, value, err) < 0)
        sim_fail(sim, "%s", err);
}

/* An empty database as a first start leaves it, made once: to make one takes longer than most of what comes
 * after. Every eighth seed begins with none. */
static void put_database(struct sim *sim)
{
    static unsigned char *bytes;
    static long size;
    char path[SCRATCH_PATH_MAX], err[DB_ERROR_MAX];
    if (!bytes) {
        struct db_writer *writer;
        snprintf(path, sizeof path, "%s/empty.db", scratch_root());
        if (db_writer_open(path, &(struct db_writer_config){0}, &writer, err, sizeof err) < 0 ||
            db_writer_close(writer, 60000, err, sizeof err) < 0)
            sim_fail(sim, "%s", err);
        FILE *file = fopen(path, "rb");
        fseek(file, 0, SEEK_END);
        size = ftell(file);
        rewind(file);
        bytes = malloc((size_t)size);
        if (fread(bytes, 1, (size_t)size, file) != (size_t)size)
            sim_fail(sim, "%s cannot be read", path);
        fclose(file);
    }
    FILE *file = sim->seed % 8 ? fopen(sim->state.database, "wb") : NULL;
    if (file && fwrite(bytes, 1, (size_t)size, file) != (size_t)size)
        sim_fail(sim, "%s cannot be written", sim->state.database);
    if (file)
        fclose(file);
}

void sim_init(struct sim *sim, uint64_t seed)
{
    char err[SESSION_ERROR_MAX];
    bool echo = sim->echo;
    *sim = (struct sim){.seed = seed, .random = {seed}, .trace = 14695981039346656037U, .echo = echo};
    sim->now_ns = 1000000000000;
    sim->clock = (struct clock_stepped){.ctx = sim, .now_ns = clock_now, .pass = clock_pass};
    market_symbols(sim);
    daemon_config_defaults(&sim->daemon.config);
    sim->daemon.config.clock = CLOCK_FEED;
    set(sim, "events", "segment_mb", "1");
    set(sim, "account main", "cash", "1000000");
    set(sim, "account main", "strategy", "sma-cross");
    set(sim, "account hand", "cash", "1000000");
    set(sim, "account hand", "strategy", "none");
    set(sim, "account hand", "cash", "1000000");
    /* By a path that is the same each time: alerts name files. */
    if (chdir(scratch_root()) < 0 || db_state_dir_find("state", &sim->state, err, sizeof err) < 0 ||
        db_state_dir_create(&sim->state, err, sizeof err) < 0)
        sim_fail(sim, "%s", err);
    sim->daemon.state = sim->state;
    put_database(sim);
    const struct faulty_owner owner = {.ctx = sim, .call = on_call, .flushing = on_flushing};
    faulty_disk_owner(&owner);
    faulty_disk_begin(&(struct faulty_plan){.seed = seed});
}

void sim_finish(struct sim *sim)
{
    for (int i = 0; i < sim->n_asks; i++) {
        json_decref(sim->asks[i].args);
        json_decref(sim->asks[i].answer);
    }
    faulty_disk_owner(&(struct faulty_owner){0});
    scratch_remove("state");
}
