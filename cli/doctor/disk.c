/* Speed of the state's file system, by a file that never has a name (O_TMPFILE): whatever ends the process,
 * nothing is left. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/place.h"
#include "exchange/clock.h"

enum {
    CHUNK = 1 << 20,
    CHUNKS = 16,
    SYNCS = 20,
    SYNC_BYTES = 4096,
    WRITE_LIMIT_MS = 2000, /* of each of the two parts */
    SLOW_SYNC_MS = 200,    /* a commit waits for one: orders are acknowledged after it */
    SLOW_MIB_S = 2,
};

static void report_closed(const char *folder, int r, struct doctor_results *results)
{
    struct stat st;
    if (r == -EROFS) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: the file system is read-only", folder);
        cli_doctor_remedy(results, "dmesg | grep -i remount; mount -o remount,rw $(findmnt -no TARGET -T %s)",
                          DOCTOR_QUOTE(folder));
    } else if (r == -EOPNOTSUPP) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s: its file system makes no file without a name", folder);
    } else if (r == -EACCES && stat(folder, &st) == 0 && st.st_uid != geteuid()) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "%s belongs to uid %u: only that user may write there",
                       folder, (unsigned)st.st_uid);
        cli_doctor_remedy(results, "sudo -u '#%u' papertape doctor", (unsigned)st.st_uid);
    } else {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: no file can be made there: %s", folder, strerror(-r));
        cli_doctor_remedy(results, "ls -ld %s; df -h %s", DOCTOR_QUOTE(folder), DOCTOR_QUOTE(folder));
    }
}

/* Bytes written and synced in *ret_ns, at most a quarter of what is free; 0 or -errno. */
static int measure_write(int fd, int64_t *ret_bytes, int64_t *ret_ns)
{
    struct statvfs fs;
    int chunks = CHUNKS;
    char *chunk = malloc(CHUNK);
    if (!chunk)
        return -ENOMEM;
    for (size_t i = 0; i < CHUNK; i++)
        chunk[i] = (char)(i * 2654435761U >> 13); /* nothing that a file system could compress away */
    if (fstatvfs(fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize / CHUNK < 4 * CHUNKS)
        chunks = (int)((uint64_t)fs.f_bavail * fs.f_frsize / CHUNK / 4);
    int64_t start = clock_now_ns();
    int r = 0;
    *ret_bytes = 0;
    for (int i = 0; i < chunks && r == 0 && clock_now_ns() - start < WRITE_LIMIT_MS * INT64_C(1000000); i++) {
        ssize_t n = pwrite(fd, chunk, CHUNK, (off_t)i * CHUNK);
        r = n < 0 ? -errno : 0;
        *ret_bytes += n > 0 ? n : 0;
    }
    if (r == 0 && fdatasync(fd) < 0)
        r = -errno;
    *ret_ns = clock_now_ns() - start;
    free(chunk);
    return r;
}

static int by_value(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Median and maximum of a small write with its sync. */
static int measure_sync(int fd, int64_t *ret_median_ns, int64_t *ret_max_ns)
{
    const char block[SYNC_BYTES] = {1};
    int64_t took[SYNCS], start = clock_now_ns();
    int n = 0;
    for (; n < SYNCS && (n == 0 || clock_now_ns() - start < WRITE_LIMIT_MS * INT64_C(1000000)); n++) {
        int64_t before = clock_now_ns();
        if (pwrite(fd, block, sizeof block, (off_t)n * SYNC_BYTES) < 0 || fdatasync(fd) < 0)
            return -errno;
        took[n] = clock_now_ns() - before;
    }
    qsort(took, (size_t)n, sizeof *took, by_value);
    *ret_median_ns = took[n / 2];
    *ret_max_ns = took[n - 1];
    return 0;
}

void cli_doctor_disk(const struct doctor *doctor, struct doctor_results *results)
{
    char folder[STATE_PATH_MAX];
    int64_t bytes = 0, ns = 0, median_ns = 0, max_ns = 0;
    cli_doctor_place(doctor->state.path, folder);
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        report_closed(folder, -errno, results);
        return;
    }
    int r = measure_write(fd, &bytes, &ns);
    if (r == 0)
        r = measure_sync(fd, &median_ns, &max_ns);
    if (r < 0) {
        cli_doctor_add(results, DOCTOR_ERROR, "%s: writing and syncing fails: %s", folder, strerror(-r));
        cli_doctor_remedy(results, "dmesg | tail -50; df -h %s; smartctl -a the disk", DOCTOR_QUOTE(folder));
        return;
    }
    double mib_s = (double)bytes / (1 << 20) / ((double)ns / 1e9);
    bool slow = median_ns > SLOW_SYNC_MS * INT64_C(1000000) || (bytes > CHUNK && mib_s < SLOW_MIB_S);
    cli_doctor_add(results, slow ? DOCTOR_WARNING : DOCTOR_OK,
                   "%s: writes %.0f MiB/s, syncs in %.1f ms (median of %d, at most %.1f ms)", folder, mib_s,
                   (double)median_ns / 1e6, SYNCS, (double)max_ns / 1e6);
    if (slow)
        cli_doctor_remedy(results, "a disk of its own for %s, or less load on this one: iostat -x 1", folder);
}
