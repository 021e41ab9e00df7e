/* The planner of matrix products, by timings from a table and a clock that they move. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "trainer/ppo/cuda/product_plan.h"

/* A device of which all is injected. */
struct table {
    int n[2];                              /* as asked, apart */
    double seconds[2][PRODUCT_HEURISTICS]; /* that it reports */
    double takes, lists;                   /* by its clock, each time */
    double clock;
    int listed, timed;
    double started; /* by its clock, the last timing */
    struct queue_product asked;
    void (*during)(void); /* a timing; NULL: nothing */
};

static int variant(const struct table *t, const struct queue_product *product)
{
    return queue_epilogue_of(product) != queue_epilogue_of(&t->asked);
}

static double now(void *ctx)
{
    return ((struct table *)ctx)->clock;
}

static int list(void *ctx, const struct queue_product *product)
{
    struct table *t = ctx;
    t->listed++;
    t->clock += t->lists;
    return t->n[variant(t, product)];
}

static double time_one(void *ctx, const struct queue_product *product, int i)
{
    struct table *t = ctx;
    const int v = variant(t, product);
    CHECK(i >= 0 && i < t->n[v]);
    t->timed++;
    t->started = t->clock;
    if (t->during)
        t->during();
    t->clock += t->takes;
    return t->seconds[v][i];
}

static const struct product_calls calls = {now, list, time_one};
static struct product_cache cache;

static struct queue_product product_of(enum queue_kind kind, size_t rows)
{
    return (struct queue_product){.kind = kind,
                                  .rows = rows,
                                  .in = 64,
                                  .out = 48,
                                  .x_stride = 64,
                                  .w_stride = 48,
                                  .y_stride = 48,
                                  .operands = QUEUE_BF16,
                                  .result = QUEUE_BF16,
                                  .bias = kind != QUEUE_INPUT,
                                  .relu = kind != QUEUE_WEIGHT,
                                  .keep = kind == QUEUE_FORWARD};
}

static struct table table_of(struct queue_product product)
{
    struct table t = {.n = {PRODUCT_HEURISTICS, PRODUCT_HEURISTICS}, .takes = 1e-3, .asked = product};
    for (int v = 0; v < 2; v++)
        for (int i = 0; i < PRODUCT_HEURISTICS; i++)
            t.seconds[v][i] = 1;
    return t;
}

static struct product_planner planner_of(struct table *t)
{
    return (struct product_planner){
        .calls = &calls, .ctx = t, .measured = true, .cache = &cache, .device = "device|1"};
}

/* With an empty cache. */
static int choose(struct table *t, struct queue_product *product, struct product_choice *ret)
{
    struct product_planner p = planner_of(t);
    ppo_product_cache_finish(&cache);
    *product = t->asked;
    *ret = (struct product_choice){.heuristic = -1};
    return ppo_product_choose(&p, product, 2, ret);
}

static void try_fastest(struct random *random)
{
    for (int round = 0; round < 300; round++) {
        struct table t = table_of(product_of((enum queue_kind)(round % 3), 100));
        struct queue_product product;
        struct product_choice choice;
        int best[2] = {0, 0};
        for (int v = 0; v < 2; v++) {
            t.n[v] = (int)random_between(random, v == 0, PRODUCT_HEURISTICS);
            for (int i = 0; i < t.n[v]; i++) {
                t.seconds[v][i] = (double)random_between(random, 1, 1000000) * 1e-6;
                if (v == 0 && i == 0)
                    continue;
                if (t.seconds[v][i] < t.seconds[best[0]][best[1]])
                    best[0] = v, best[1] = i;
            }
        }
        CHECK_INT(choose(&t, &product, &choice), 0);
        CHECK_INT(choice.apart, best[0]);
        CHECK_INT(choice.heuristic, best[1]);
        CHECK_NEAR(choice.seconds, t.seconds[best[0]][best[1]], 0);
        CHECK_INT(choice.tried, t.n[0] + t.n[1]);
        CHECK_INT(t.timed, t.n[0] + t.n[1]);
        struct queue_product right = t.asked;
        if (best[0] == 1) {
            right.relu = right.keep = false;
            right.bias = right.bias && right.kind == QUEUE_FORWARD;
        }
        CHECK(memcmp(&product, &right, sizeof(right)) == 0);
    }
}

/* Nothing to take apart: one list. */
static void try_plain(void)
{
    struct queue_product product, asked = product_of(QUEUE_FORWARD, 9);
    struct product_choice choice;
    asked.relu = asked.keep = false;
    struct table t = table_of(asked);
    t.seconds[0][5] = 0.5;
    CHECK_INT(choose(&t, &product, &choice), 0);
    CHECK(!choice.apart && choice.heuristic == 5 && product.bias && t.listed == 1);
    CHECK(!ppo_product_part(&asked) && asked.bias);
}

static void fill(struct table *t, int v, double seconds)
{
    for (int i = 0; i < PRODUCT_HEURISTICS; i++)
        t->seconds[v][i] = seconds;
}

static void check_choice(struct table *t, int r, int apart, int heuristic, bool known)
{
    struct queue_product product;
    struct product_choice choice;
    CHECK_INT(choose(t, &product, &choice), r);
    CHECK_INT(choice.heuristic, r < 0 ? -1 : heuristic);
    CHECK_INT(choice.apart, apart);
    CHECK(r < 0 || isnan(choice.seconds) == !known);
    CHECK_INT(queue_epilogue_of(&product) != queue_epilogue_of(&t->asked), apart);
}

/* Timings that are none, algorithms that do not run, and lists that are empty. */
static void try_bad(void)
{
    static const double none[] = {NAN, -1, 0, -INFINITY};
    struct table t = table_of(product_of(QUEUE_INPUT, 77));
    for (size_t k = 0; k < sizeof(none) / sizeof(none[0]); k++) {
        fill(&t, 0, none[k]);
        fill(&t, 1, none[k]);
        check_choice(&t, 0, 0, 0, false); /* the first heuristic */
        t.seconds[1][3] = 7;
        check_choice(&t, 0, 1, 3, true); /* what is known is better than what is not */
        fill(&t, 1, none[k]);
        t.seconds[0][0] = INFINITY;
        check_choice(&t, 0, 0, 1, false); /* it may run */
    }
    fill(&t, 0, INFINITY);
    fill(&t, 1, NAN);
    check_choice(&t, 0, 1, 0, false); /* plain, with kernels for the rest */
    t.seconds[0][7] = 1e-9;
    check_choice(&t, 0, 0, 7, true);
    fill(&t, 0, INFINITY);
    fill(&t, 1, INFINITY);
    check_choice(&t, -ENOTSUP, 0, 0, false);
    fill(&t, 1, 2);
    t.n[0] = 0;
    check_choice(&t, 0, 1, 0, true);
    t.n[1] = 0;
    check_choice(&t, -ENOTSUP, 0, 0, false);
}

/* The heuristics' time is of the budget, not of a product's eighth of it: no timing starts after it. */
static void try_listing(void)
{
    static const double lists[] = {1e-3, 0.02, 0.2, 0.6};
    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
        enum { PRODUCTS = 60 };
        struct table t = table_of(product_of(QUEUE_FORWARD, 1));
        struct product_planner p = planner_of(&t);
        t.lists = lists[k];
        ppo_product_cache_finish(&cache);
        for (int i = 0; i < PRODUCTS; i++) {
            struct product_choice choice;
            struct queue_product product = t.asked = product_of(QUEUE_FORWARD, (size_t)i + 1);
            CHECK_INT(ppo_product_choose(&p, &product, 2, &choice), 0);
            CHECK(i > 0 || (choice.tried > 0) == (2 * lists[k] < PRODUCT_BUDGET_S));
        }
        CHECK(t.started < PRODUCT_BUDGET_S);
        CHECK_INT(t.listed, 2 * PRODUCTS);
        CHECK_NEAR(p.spent, t.clock, 1e-9);
    }
}

/* However long a product takes: no timing starts after the budget. */
static void try_budget(void)
{
    static const double takes[] = {1e-4, 1e-3, 0.03, 0.2, 0.9, 1.5};
    for (size_t k = 0; k < sizeof(takes) / sizeof(takes[0]); k++) {
        enum { PRODUCTS = 60 };
        struct table t = table_of(product_of(QUEUE_FORWARD, 1));
        struct product_planner p = planner_of(&t);
        int all = 0, none = 0;
        t.takes = takes[k];
        ppo_product_cache_finish(&cache);
        for (int i = 0; i < PRODUCTS; i++) {
            struct product_choice choice;
            struct queue_product product = t.asked = product_of(QUEUE_FORWARD, (size_t)i + 1);
            fill(&t, 0, 2);
            t.seconds[0][1] = 1;
            const int before = t.timed;
            CHECK_INT(ppo_product_choose(&p, &product, 2, &choice), 0);
            CHECK_INT(choice.tried, t.timed - before);
            all += choice.tried == 2 * PRODUCT_HEURISTICS;
            none += choice.tried == 0;
            if (choice.tried == 0)
                CHECK(!choice.apart && choice.heuristic == 0 && isnan(choice.seconds));
        }
        CHECK(t.clock <= PRODUCT_BUDGET_S + takes[k]);
        CHECK(takes[k] < 1e-3 ? all == PRODUCTS : all + none < PRODUCTS || takes[k] > 1);
        CHECK_NEAR(p.spent, t.clock, 1e-9);
        if (takes[k] > 1)
            CHECK(t.timed == 1 && none == PRODUCTS - 1);
    }
}

/* Not measured: the first heuristic that there is, and the cache is not looked at. */
static void try_first(void)
{
    struct table t = table_of(product_of(QUEUE_WEIGHT, 5));
    struct product_planner p = planner_of(&t);
    struct queue_product product = t.asked;
    struct product_choice choice;
    t.seconds[1][2] = 1e-6;
    ppo_product_cache_finish(&cache);
    p.measured = false;
    CHECK_INT(ppo_product_choose(&p, &product, 2, &choice), 0);
    CHECK(!choice.apart && choice.heuristic == 0 && isnan(choice.seconds) && choice.tried == 0);
    CHECK(t.timed == 0 && cache.n == 0);
    t.n[0] = 0;
    CHECK_INT(ppo_product_choose(&p, &product, 2, &choice), 0);
    CHECK(choice.apart && choice.heuristic == 0 && !product.bias);
}

/* ---- the cache ---- */

static const char *path;

/* Candidate `fastest` of a fresh device's, with a cache over the file. Returns how many were timed. */
static int choose_in(struct product_cache *c, const char *device, size_t rows, int lanes, int fastest,
                     struct product_choice *ret)
{
    struct table t = table_of(product_of(QUEUE_FORWARD, rows));
    struct product_planner p = planner_of(&t);
    struct queue_product product = t.asked;
    t.seconds[1][fastest] = 1e-5;
    p.cache = c;
    p.device = device;
    CHECK_INT(ppo_product_choose(&p, &product, lanes, ret), 0);
    CHECK_INT(product.relu, !ret->apart);
    return t.timed;
}

static void try_cache(void)
{
    enum { ALL = 2 * PRODUCT_HEURISTICS };
    struct product_cache one = {0}, two = {0}, three = {0};
    struct product_choice choice;
    ppo_product_cache_open(&one, path);
    ppo_product_cache_open(&two, path);
    CHECK_INT(choose_in(&one, "a", 100, 2, 3, &choice), ALL);
    CHECK_INT(choice.tried, ALL);
    CHECK_INT(choose_in(&one, "a", 100, 2, 5, &choice), 0); /* in the process */
    CHECK(choice.apart && choice.heuristic == 3 && choice.tried == 0);
    CHECK_NEAR(choice.seconds, 1e-5, 1e-13);
    CHECK_INT(choose_in(&two, "a", 100, 2, 5, &choice), 0); /* by the file, which came after it was opened */
    CHECK(choice.apart && choice.heuristic == 3);
    ppo_product_cache_open(&three, path); /* by the file as it is opened */
    CHECK_INT(three.n, 1);

    /* Another device, driver, shape or neighbour: another key. */
    CHECK_INT(choose_in(&two, "b", 100, 2, 5, &choice), ALL);
    CHECK_INT(choose_in(&two, "a", 101, 2, 5, &choice), ALL);
    CHECK_INT(choose_in(&two, "a", 100, 1, 5, &choice), ALL);
    CHECK_INT(choose_in(&one, "a", 100, 1, 2, &choice), 0);
    CHECK_INT(choice.heuristic, 5);

    /* Two that measured the same at once: the first's stays for both. */
    struct product_choice first = {.apart = true, .heuristic = 1, .seconds = 2}, second = {.heuristic = 4};
    ppo_product_cache_keep(&one, "both", &first);
    ppo_product_cache_keep(&two, "both", &second);
    CHECK(second.apart && second.heuristic == 1 && second.seconds == 2);
    CHECK(ppo_product_cache_find(&three, "both", &second) && second.heuristic == 1);

    /* A heuristic that the library does not have any more: measured again. */
    struct queue_product product = product_of(QUEUE_FORWARD, 100);
    struct table t = table_of(product);
    struct product_planner p = planner_of(&t);
    t.n[1] = 3;
    p.cache = &one;
    p.device = "a";
    CHECK_INT(ppo_product_choose(&p, &product, 2, &choice), 0);
    CHECK(t.timed == PRODUCT_HEURISTICS + 3 && !choice.apart && choice.heuristic == 0);
    ppo_product_cache_finish(&one);
    ppo_product_cache_finish(&two);
    ppo_product_cache_finish(&three);
}

/* ---- processes that choose at once ---- */

enum { PROCESSES = 8, SHAPES = 5, ALL_TIMED = 2 * PRODUCT_HEURISTICS };

/* Of all of them. */
struct together {
    atomic_int listed[SHAPES], timed[SHAPES];
    atomic_int chosen[SHAPES]; /* the first one's; 0: none yet */
    atomic_int unlocked, was_locked;
};
static struct together *together;
static int shape;

static int list_together(void *ctx, const struct queue_product *product)
{
    const int n = list(ctx, product);
    atomic_fetch_add(&together->listed[shape], 1);
    return n;
}

/* Is another's attempt at the file's lock in vain? */
static bool is_locked(void)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    const bool locked = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return locked;
}

/* Continues once all processes want the same product, so that each would time it, were it not locked. */
static void time_together(void)
{
    atomic_fetch_add(&together->timed[shape], 1);
    while (atomic_load(&together->listed[shape]) < 2 * PROCESSES)
        sched_yield();
    if (!is_locked())
        atomic_fetch_add(&together->unlocked, 1);
}

/* Each product is timed wholly or not at all, and all processes choose the same. */
static int choose_shapes(int process)
{
    static const struct product_calls calls_together = {now, list_together, time_one};
    struct product_cache c = {0};
    struct table t = table_of(product_of(QUEUE_FORWARD, 1));
    struct product_planner p = planner_of(&t);
    struct product_choice choice;
    int r = 0;
    p.calls = &calls_together;
    p.cache = &c;
    t.during = time_together;
    t.seconds[process & 1][process % PRODUCT_HEURISTICS] = 1e-5; /* each has another */
    ppo_product_cache_open(&c, path);
    for (shape = 0; shape < SHAPES && r == 0; shape++) {
        struct queue_product product = t.asked = product_of(QUEUE_FORWARD, (size_t)shape + 1);
        const int before = t.timed;
        r = ppo_product_choose(&p, &product, 2, &choice);
        const int own = 1 + choice.heuristic + PRODUCT_HEURISTICS * choice.apart;
        int first = 0;
        if (!atomic_compare_exchange_strong(&together->chosen[shape], &first, own) && first != own)
            r = -EPROTO;
        if (t.timed != before && t.timed != before + ALL_TIMED)
            r = -EPROTO;
    }
    ppo_product_cache_finish(&c);
    return r;
}

static void try_together(void)
{
    pid_t pids[PROCESSES];
    unlink(path);
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0 && alarm(20) == 0) /* none waits for one that failed */
            _exit(choose_shapes(i) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
        CHECK(pids[i] > 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        CHECK(waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    for (int i = 0; i < SHAPES; i++)
        CHECK_INT(together->timed[i], ALL_TIMED);
    CHECK_INT(together->unlocked, 0);
    struct product_cache c = {0};
    ppo_product_cache_open(&c, path);
    CHECK_INT(c.n, SHAPES);
    ppo_product_cache_finish(&c);
}

static void die(void)
{
    if (is_locked())
        atomic_store(&together->was_locked, 1);
    kill(getpid(), SIGKILL);
}

/* One that is killed while it measures holds no other up. */
static void try_killed(void)
{
    struct product_cache c = {0};
    struct table t = table_of(product_of(QUEUE_FORWARD, 900));
    struct product_planner p = planner_of(&t);
    struct queue_product product = t.asked;
    struct product_choice choice;
    int status = 0;
    p.cache = &c;
    ppo_product_cache_open(&c, path);
    const pid_t pid = fork();
    if (pid == 0) {
        t.during = die;
        _exit(ppo_product_choose(&p, &product, 2, &choice));
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && together->was_locked == 1);
    CHECK_INT(ppo_product_choose(&p, &product, 2, &choice), 0);
    CHECK(t.timed == ALL_TIMED && p.waited < PRODUCT_WAIT_S / 2 && !is_locked());
    ppo_product_cache_finish(&c);
}

/* One that hangs with the lock does for so long, of all products together; the choices are then the
 * process's own. */
static void try_hanging(void)
{
    struct product_cache c = {0};
    struct table t = table_of(product_of(QUEUE_FORWARD, 901));
    struct product_planner p = planner_of(&t);
    struct product_choice choice;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    p.cache = &c;
    p.waited = PRODUCT_WAIT_S - 0.02;
    ppo_product_cache_open(&c, path);
    const size_t before = c.n;
    for (int i = 0; i < 3; i++) {
        struct queue_product product = t.asked = product_of(QUEUE_FORWARD, (size_t)(901 + i));
        CHECK_INT(ppo_product_choose(&p, &product, 2, &choice), 0);
        CHECK(choice.tried == ALL_TIMED && p.waited >= PRODUCT_WAIT_S && c.n == before + 1 + (size_t)i);
        product = t.asked;
        CHECK_INT(ppo_product_choose(&p, &product, 2, &choice), 0);
        CHECK_INT(choice.tried, 0); /* it remembers */
    }
    ppo_product_cache_finish(&c);
    ppo_product_cache_open(&c, path);
    CHECK_INT(c.n, before); /* nothing was written under another's lock */
    ppo_product_cache_finish(&c);
    close(fd);
}

/* None runs: the claim ends all the same. */
static void try_none_runs(void)
{
    struct product_cache c = {0};
    struct table t = table_of(product_of(QUEUE_FORWARD, 902));
    struct product_planner p = planner_of(&t);
    struct queue_product product = t.asked;
    struct product_choice choice;
    fill(&t, 0, INFINITY);
    fill(&t, 1, INFINITY);
    p.cache = &c;
    ppo_product_cache_open(&c, path);
    CHECK_INT(ppo_product_choose(&p, &product, 2, &choice), -ENOTSUP);
    CHECK(!is_locked());
    ppo_product_cache_finish(&c);
}

static void write_file(const char *text, size_t n)
{
    FILE *f = fopen(path, "w");
    CHECK(f && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

/* The file cut at every byte, with a foreign byte at every place, and no file at all: what is whole counts,
 * what is added is read back. */
static void try_damage(struct random *random)
{
    static const char text[] = "k1\t0\t2\t0.5\nk2\t1\t7\tnan\nk3\t0\t0\t1e-05\n";
    const size_t whole = sizeof(text) - 1;
    for (size_t i = 0; i <= 2 * whole; i++) {
        struct product_cache c = {0}, d = {0};
        struct product_choice choice, own = {.apart = true, .heuristic = 6, .seconds = 3};
        char damaged[sizeof(text)];
        memcpy(damaged, text, sizeof(text));
        const size_t n = i < whole ? i : whole;
        if (i > whole)
            damaged[i - whole - 1] = (char)random_between(random, 1, 255);
        write_file(damaged, n);
        ppo_product_cache_open(&c, path);
        CHECK(c.n <= 4);
        if (i < whole)
            CHECK_INT(c.n, (i >= 11) + (i >= 22)); /* lines of 11, 11 and 13 bytes */
        if (i == whole) {
            CHECK(c.n == 3 && ppo_product_cache_find(&c, "k2", &choice) && choice.apart &&
                  choice.heuristic == 7 && isnan(choice.seconds));
        }
        ppo_product_cache_keep(&c, "own", &own);
        ppo_product_cache_open(&d, path);
        CHECK(ppo_product_cache_find(&d, "own", &choice) && choice.apart && choice.heuristic == 6);
        ppo_product_cache_finish(&c);
        ppo_product_cache_finish(&d);
    }
}

/* Where there is no file the process has its choices. */
static void try_no_file(void)
{
    struct product_cache c = {0};
    struct product_choice choice, own = {.heuristic = 6};
    struct stat st;
    ppo_product_cache_open(&c, scratch_root()); /* which is no file */
    ppo_product_cache_keep(&c, "own", &own);
    CHECK(ppo_product_cache_find(&c, "own", &choice) && choice.heuristic == 6);
    ppo_product_cache_finish(&c);

    CHECK(truncate(path, PRODUCT_FILE_MAX) == 0); /* a full one is not made longer */
    ppo_product_cache_open(&c, path);
    ppo_product_cache_keep(&c, "own", &own);
    CHECK(ppo_product_cache_find(&c, "own", &choice) && choice.heuristic == 6);
    CHECK(stat(path, &st) == 0 && st.st_size == PRODUCT_FILE_MAX);
    ppo_product_cache_finish(&c);

    setenv("XDG_CACHE_HOME", scratch_root(), 1); /* the default's place, whose folder is made */
    ppo_product_cache_open(&c, "");
    ppo_product_cache_keep(&c, "own", &own);
    CHECK_STR(c.path, scratch_path("papertape/products"));
    CHECK(stat(c.path, &st) == 0 && st.st_size > 0);
    ppo_product_cache_finish(&c);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    ppo_product_cache_open(&c, "");
    CHECK_STR(c.path, "");
    ppo_product_cache_finish(&c);
}

int main(void)
{
    struct random random = random_seeded("trainer/ppo/product_plan", 20261124);
    path = scratch_path("products");
    together = mmap(NULL, sizeof(*together), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (together == MAP_FAILED)
        return EXIT_FAILURE;
    try_fastest(&random);
    try_plain();
    try_bad();
    try_listing();
    try_budget();
    try_first();
    try_cache();
    try_together();
    try_killed();
    try_hanging();
    try_none_runs();
    try_damage(&random);
    try_no_file();
    ppo_product_cache_finish(&cache);
    return check_done("trainer/ppo/product_plan");
}
