/* What processes use of devices, in a /proc of the test's own: two devices, clients with several descriptors,
 * clients that two processes share, engines by time and by cycles, processes that vanish, and what is
 * malformed. */
#include "daemon/gpu/fdinfo.h"

#include "daemon/gpu/client.h"
#include "daemon/gpu/source.h"
#include "tests/check.h"
#include "tests/daemon/tree.h"
#include "tests/random.h"

enum { SECOND = 1000000000, N = 2 };

static char proc[SCRATCH_MAX];
static struct device_sample devices[N];
static double use[N];
static const char *const slots[N] = {"0000:03:00.0", "0000:41:00.0"};

static bool sample(struct gpu_fdinfo *fdinfo, int64_t now_ns)
{
    for (int i = 0; i < N; i++)
        daemon_gpu_device_clear(&devices[i]);
    return daemon_gpu_fdinfo_sample(fdinfo, now_ns, slots, devices, N, use);
}

/* An amdgpu client's file. */
static void put_client(int pid, int number, int device, int id, int mib, long gfx_ms)
{
    char text[512];
    snprintf(text, sizeof text,
             "pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t1234\ndrm-driver:\tamdgpu\ndrm-client-id:\t%d\n"
             "drm-pdev:\t%s\npasid:\t32770\ndrm-memory-vram:\t%d KiB\ndrm-memory-gtt: \t2048 KiB\n"
             "drm-total-vram:\t%d KiB\ndrm-engine-gfx:\t%ld ns\ndrm-engine-compute:\t%ld ns\n",
             id, slots[device], mib << 10, mib << 11, gfx_ms * 1000000, gfx_ms * 500000);
    tree_descriptor(proc, pid, number, text);
}

static const struct device_process *process_of(int device, int pid)
{
    static const struct device_process none = {.memory_bytes = -1, .util_percent = -1};
    for (int i = 0; i < devices[device].n_processes; i++)
        if (devices[device].processes[i].pid == pid)
            return &devices[device].processes[i];
    return &none;
}

static void test_clients(void)
{
    struct gpu_fdinfo *fdinfo = daemon_gpu_fdinfo_create();
    CHECK(!sample(fdinfo, 1 * (int64_t)SECOND)); /* without a process 1 others must be hidden */
    tree_process(proc, 1, 0, "init", 1, 1, 1);
    tree_process(proc, 100, 1, "trainer", 50, 1, 1);
    tree_process(proc, 200, 1, "game\tof\377", 60, 1, 1);
    put_client(100, 3, 0, 7, 1024, 5000);
    put_client(100, 4, 0, 7, 1024, 5000); /* the same client again */
    put_client(100, 5, 0, 8, 512, 1000);
    put_client(100, 6, 1, 7, 64, 0);     /* of the other device it is another one */
    put_client(200, 3, 0, 8, 512, 1000); /* inherited: the first process has it */
    put_client(200, 4, 0, 9, 256, 0);
    tree_link(proc, "200/fd/5", "/dev/null");
    tree_link(proc, "200/fd/6", "socket:[12345]");
    CHECK(sample(fdinfo, 2 * (int64_t)SECOND));
    CHECK_INT(devices[0].n_processes, 2);
    CHECK_INT(devices[1].n_processes, 1);
    CHECK(process_of(0, 100)->memory_bytes == 1536.0 * (1 << 20));
    CHECK(process_of(0, 200)->memory_bytes == 256.0 * (1 << 20));
    CHECK(process_of(1, 100)->memory_bytes == 64.0 * (1 << 20));
    CHECK_STR(process_of(0, 100)->name, "trainer");
    CHECK_STR(process_of(0, 200)->name, "game?of?");

    /* Two seconds later: 0.8 s and 0.4 s of the one, and a new one of it with 0.2 s; nothing of the other. */
    put_client(100, 3, 0, 7, 2048, 5800);
    put_client(100, 4, 0, 7, 2048, 5800);
    put_client(100, 5, 0, 8, 512, 1400);
    put_client(100, 7, 0, 10, 1, 200);
    CHECK(sample(fdinfo, 4 * (int64_t)SECOND));
    CHECK(fabs(process_of(0, 100)->util_percent - 70) < 1e-9); /* of gfx; compute worked half as long */
    CHECK(process_of(0, 200)->util_percent == 0);
    CHECK(process_of(1, 100)->util_percent == 0);
    CHECK(process_of(0, 100)->memory_bytes == 2561.0 * (1 << 20));
    CHECK(fabs(use[0] - 70) < 1e-9);
    CHECK(use[1] == 0);

    /* One ends; of the client that the other shares with it that is the holder now, without a second's use.
     */
    tree_remove(proc, "100");
    CHECK(sample(fdinfo, 5 * (int64_t)SECOND));
    CHECK_INT(devices[0].n_processes, 1);
    CHECK_INT(devices[1].n_processes, 0);
    CHECK(process_of(0, 200)->memory_bytes == 768.0 * (1 << 20));
    CHECK(isnan(use[1]));

    /* A counter that goes back is no use; one that runs ahead of the clock is all of it. */
    put_client(200, 3, 0, 8, 512, 10);
    put_client(200, 4, 0, 9, 256, 90000);
    CHECK(sample(fdinfo, 6 * (int64_t)SECOND));
    CHECK(process_of(0, 200)->util_percent == 100);
    CHECK(use[0] == 100);

    /* A driver that counts no time of this client's engines, as of AMD's compute queues. */
    tree_descriptor(proc, 200, 3, "drm-pdev: 0000:03:00.0\ndrm-client-id: 8\ndrm-memory-vram: 1 KiB\n");
    tree_remove(proc, "200/fd/4");
    CHECK(sample(fdinfo, 7 * (int64_t)SECOND));
    CHECK(process_of(0, 200)->memory_bytes == 1024);
    CHECK(isnan(process_of(0, 200)->util_percent));
    tree_remove(proc, "200");
    daemon_gpu_fdinfo_destroy(fdinfo);
}

/* xe counts cycles, and says how many engines there are of a kind. */
static void test_cycles(void)
{
    struct gpu_fdinfo *fdinfo = daemon_gpu_fdinfo_create();
    tree_process(proc, 300, 1, "video", 60, 1, 1);
    tree_descriptor(
        proc, 300, 3,
        "drm-pdev: 0000:41:00.0\ndrm-client-id: 3\ndrm-cycles-vcs: 1000\ndrm-total-cycles-vcs: 50000\n"
        "drm-engine-capacity-vcs: 2\ndrm-resident-vram0: 3 MiB\ndrm-total-vram0: 9 MiB\n");
    sample(fdinfo, SECOND);
    CHECK(isnan(process_of(1, 300)->util_percent));
    CHECK(process_of(1, 300)->memory_bytes == 3 << 20);
    tree_descriptor(
        proc, 300, 3,
        "drm-pdev: 0000:41:00.0\ndrm-client-id: 3\ndrm-cycles-vcs: 6000\ndrm-total-cycles-vcs: 60000\n"
        "drm-engine-capacity-vcs: 2\n");
    sample(fdinfo, 2 * (int64_t)SECOND);
    CHECK(process_of(1, 300)->util_percent == 25); /* 5,000 of 10,000, of two */
    CHECK(isnan(process_of(1, 300)->memory_bytes));

    /* As much as the clock does not move is not known. */
    sample(fdinfo, 2 * (int64_t)SECOND);
    CHECK(isnan(process_of(1, 300)->util_percent));
    tree_remove(proc, "300");
    daemon_gpu_fdinfo_destroy(fdinfo);
}

static void test_parse(void)
{
    struct gpu_client client;
    CHECK(!daemon_gpu_client_parse("", &client));
    CHECK(!daemon_gpu_client_parse("drm-pdev: 0000:03:00.0\n", &client));
    CHECK(!daemon_gpu_client_parse("drm-client-id: 7\n", &client));
    CHECK(!daemon_gpu_client_parse("drm-pdev: 0000:03:00.0\ndrm-client-id: seven\n", &client));
    CHECK(daemon_gpu_client_parse("drm-client-id:7\ndrm-pdev:0000:03:00.0", &client));
    CHECK_INT(client.n_engines, 0);
    CHECK(isnan(daemon_gpu_client_memory(&client)));
    CHECK(daemon_gpu_client_parse(
        "drm-client-id: 7\ndrm-pdev: x\ndrm-memory-vram: 5 bogus\ndrm-total-vram: 4096\n"
        "drm-engine-: 5 ns\ndrm-engine-gfx: -5 ns\ndrm-engine-dec: 99999999999999999999 ns\n"
        "drm-engine-capacity-gfx: 4\nno colon\n: 5\n",
        &client));
    CHECK(daemon_gpu_client_memory(&client) == 4096);
    CHECK_INT(client.n_engines, 1);
    CHECK(!client.engines[0].known);

    /* More kinds of engines than are kept, and names that are too long. */
    char text[4096] = "drm-client-id: 7\ndrm-pdev: x\n";
    for (int i = 0; i < 40; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "drm-engine-e%d%s: 1 ns\n", i,
                 i == 3 ? "-which-has-a-name-that-is-much-too-long" : "");
    CHECK(daemon_gpu_client_parse(text, &client));
    CHECK_INT(client.n_engines, GPU_ENGINES_MAX);
}

static void test_random(void)
{
    enum { ROUNDS = 2000 };
    static const char *const words[] = {"drm-pdev",
                                        "drm-client-id",
                                        "drm-engine-",
                                        "drm-engine-capacity-",
                                        "drm-cycles-",
                                        "drm-total-cycles-",
                                        "drm-memory-vram",
                                        "drm-resident-local0",
                                        ":",
                                        ": ",
                                        "\n",
                                        "\t",
                                        "0000:03:00.0",
                                        "18446744073709551615",
                                        "7",
                                        " ns",
                                        " KiB",
                                        " MiB",
                                        "gfx"};
    struct random random = random_seeded("daemon/gpu_fdinfo", 26);
    for (int round = 0; round < ROUNDS; round++) {
        struct gpu_client client;
        char text[1024] = "";
        for (int i = 0; i < 40; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s",
                     words[random_next(&random) % (sizeof words / sizeof *words)]);
        for (int i = 0; i < round % 4; i++)
            text[random_next(&random) % strlen(text)] = (char)random_between(&random, 1, 255);
        if (daemon_gpu_client_parse(text, &client))
            CHECK(client.slot[0] && memchr(client.slot, 0, sizeof client.slot) != NULL);
        CHECK(client.n_engines <= GPU_ENGINES_MAX);
    }
}

/* Hidden: another user's descriptors, and a namespace that is not the first. Root sees all. */
static void test_hidden(void)
{
    struct gpu_fdinfo *fdinfo = daemon_gpu_fdinfo_create();
    char path[TREE_PATH_MAX];
    CHECK(sample(fdinfo, SECOND));
    tree_link(proc, "self/ns/pid", "pid:[4026531836]");
    CHECK(sample(fdinfo, 2 * (int64_t)SECOND));
    tree_link(proc, "self/ns/pid", "pid:[4026532001]");
    CHECK(!sample(fdinfo, 3 * (int64_t)SECOND));
    tree_remove(proc, "self");
    tree_process(proc, 400, 1, "other", 60, 1, 1);
    tree_put(proc, "400/fd/none", "");
    tree_path(proc, "400/fd", path);
    if (chmod(path, 0) < 0)
        abort();
    CHECK(sample(fdinfo, 4 * (int64_t)SECOND) == (geteuid() == 0));
    chmod(path, 0700);
    tree_remove(proc, "400");

    /* The list is shown where it is true: with entries, or empty of an idle device. */
    struct device_sample *d = &devices[0];
    daemon_gpu_device_clear(d);
    daemon_gpu_device_settle(d, true);
    CHECK(d->processes_known);
    daemon_gpu_device_settle(d, false);
    CHECK(!d->processes_known);
    d->figures.util_percent = 1;
    daemon_gpu_device_settle(d, true);
    CHECK(!d->processes_known);
    d->figures.util_percent = 0;
    d->figures.memory_used_bytes = 2e9;
    daemon_gpu_device_settle(d, true);
    CHECK(!d->processes_known);
    daemon_gpu_device_add(d, &(struct device_process){.pid = 9, .memory_bytes = NAN, .util_percent = NAN});
    daemon_gpu_device_settle(d, false);
    CHECK(d->processes_known);
    daemon_gpu_fdinfo_destroy(fdinfo);
    daemon_gpu_fdinfo_destroy(NULL);
}

/* The largest 64 of a hundred. */
static void test_many(void)
{
    struct device_sample *d = &devices[0];
    daemon_gpu_device_clear(d);
    for (int i = 1; i <= 100; i++)
        daemon_gpu_device_add(
            d, &(struct device_process){.pid = i, .memory_bytes = i % 50 ? i : NAN, .util_percent = NAN});
    CHECK_INT(d->n_processes, DEVICE_PROCESSES_MAX);
    double least = 1e9;
    for (int i = 0; i < d->n_processes; i++)
        least = fmin(least, d->processes[i].memory_bytes);
    CHECK(least == 35); /* 35 to 99 without 50, which does not say */
    daemon_gpu_device_add(d, &(struct device_process){.pid = 99, .memory_bytes = 5, .util_percent = 50});
    CHECK_INT(d->n_processes, DEVICE_PROCESSES_MAX);
    CHECK(process_of(0, 99)->memory_bytes == 99);
    CHECK(process_of(0, 99)->util_percent == 50);
}

int main(void)
{
    scratch_in_memory();
    scratch_make(proc);
    setenv("PAPERTAPE_PROCFS", proc, 1);
    test_parse();
    test_random();
    test_clients();
    test_cycles();
    test_hidden();
    test_many();
    return check_done("daemon/gpu_fdinfo");
}
