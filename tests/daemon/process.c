#include "daemon/process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"

int main(void)
{
    struct process_usage before, after;
    daemon_process_usage(&before);
    CHECK(before.resident_bytes > 0);
    CHECK(before.files >= 3);

    enum { SIZE = 64 << 20 };
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 2;
    volatile char *touched = memory;
    for (size_t i = 0; i < SIZE; i += 512)
        touched[i] = 1;
    int fd = open("/dev/null", O_RDONLY);
    daemon_process_usage(&after);
    CHECK(after.resident_bytes >= before.resident_bytes + SIZE / 2);
    CHECK(after.cpu_ns > before.cpu_ns);
    CHECK_INT(after.files, before.files + 1);
    close(fd);
    munmap(memory, SIZE);
    return check_done("daemon/process");
}
