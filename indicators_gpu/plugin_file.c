#include "indicators_gpu/plugin_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "indicators_gpu/plugin_watch.h"

/* What dlopen() has loaded is the process's, and so is this list of it. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static struct indicator_plugin_file *loaded[INDICATOR_PLUGIN_FILES_MAX];
static size_t n_loaded;
static char folder_of_user[INDICATOR_PLUGIN_PATH_MAX]; /* "": none */

int indicator_plugin_folder_set(const char *folder)
{
    if (folder && strlen(folder) >= sizeof folder_of_user)
        return -ENAMETOOLONG;
    snprintf(folder_of_user, sizeof folder_of_user, "%s", folder ? folder : "");
    return 0;
}

const char *indicator_plugin_folder(void)
{
    return folder_of_user[0] ? folder_of_user : PLUGIN_FOLDER;
}

/* ---- names ---- */

size_t indicator_plugin_word(const char *text)
{
    for (const char *so = text; (so = strstr(so, ".so")); so += 3)
        if (so[3] == ':' || so[3] == '\0')
            return (size_t)(so + 3 - text);
    return strcspn(text, ":");
}

static bool ends_in_so(const char *word, size_t n)
{
    return n > 3 && memcmp(word + n - 3, ".so", 3) == 0;
}

/* Behind a path from the root, or from the current folder. */
static int absolute(const char *path, char ret[static INDICATOR_PLUGIN_PATH_MAX], char *err, size_t err_cap)
{
    char here[PATH_MAX] = "";
    while (strncmp(path, "./", 2) == 0)
        path += 2 + strspn(path + 2, "/");
    if (path[0] != '/' && !getcwd(here, sizeof here))
        return fail_with(-errno, err, err_cap, "%.200s: the current folder: %s", path, strerror(errno));
    int n = snprintf(ret, INDICATOR_PLUGIN_PATH_MAX, "%s%s%s", here, here[0] ? "/" : "", path);
    if (n >= INDICATOR_PLUGIN_PATH_MAX)
        return fail_with(-ENAMETOOLONG, err, err_cap, "%.100s…: a path of at most %d bytes is needed", path,
                         INDICATOR_PLUGIN_PATH_MAX - 1);
    return 0;
}

int indicator_plugin_path(const char *word, size_t n, char path[static INDICATOR_PLUGIN_PATH_MAX], char *err,
                          size_t err_cap)
{
    char name[PATH_MAX], inside[PATH_MAX + 8];
    bool so = ends_in_so(word, n), named = !memchr(word, '/', n);
    snprintf(name, sizeof name, "%.*s", (int)(n < PATH_MAX ? n : PATH_MAX - 1), word);
    snprintf(inside, sizeof inside, "%.2000s/%.2000s%s", indicator_plugin_folder(), name, so ? "" : ".so");
    if (n == 0)
        return fail_with(-ENOENT, err, err_cap,
                         "lib: the name of a shared object is missing, as lib:FILE.so");
    if (so && (!named || access(name, F_OK) == 0))
        return absolute(name, path, err, err_cap);
    if (named && access(inside, F_OK) == 0)
        return absolute(inside, path, err, err_cap);
    if (!named)
        return fail_with(-ENOENT, err, err_cap, "%.200s: a shared object's name ends in .so", name);
    return fail_with(-ENOENT, err, err_cap,
                     so ? "%.100s: there is no such file, here or in %.150s"
                        : "%.100s: there is no such file in %.150s: lib:/PATH/FILE.so names one elsewhere",
                     so ? name : inside + strlen(indicator_plugin_folder()) + 1, indicator_plugin_folder());
}

/* ---- loading ---- */

/* Is it a file that no one else could have written? */
static int check_owner(const char *path, const struct stat *st, char *err, size_t err_cap)
{
    if (!S_ISREG(st->st_mode))
        return fail_with(S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL, err, err_cap,
                         "%.400s: %s: a shared object is needed", path,
                         S_ISDIR(st->st_mode) ? "is a folder" : "is no regular file");
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return fail_with(
            -EPERM, err, err_cap,
            "%.400s: belongs to user %u: its code would run as user %u, so it must be that one's "
            "or root's",
            path, (unsigned)st->st_uid, (unsigned)geteuid());
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return fail_with(-EPERM, err, err_cap, "%.400s: others may write to it: chmod go-w", path);
    if (st->st_size > INDICATOR_PLUGIN_BYTES_MAX)
        return fail_with(-EFBIG, err, err_cap, "%.400s: larger than %d MiB", path,
                         INDICATOR_PLUGIN_BYTES_MAX >> 20);
    return 0;
}

/* Copies up to `most` bytes. Returns how many there were, or -errno. */
static ssize_t copy(int from, int to, size_t most)
{
    char block[1 << 16];
    size_t sum = 0;
    for (;;) {
        ssize_t n = read(from, block, sizeof block);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : (ssize_t)sum;
        sum += (size_t)n;
        if (sum > most)
            return -EFBIG;
        for (ssize_t done = 0, w; done < n; done += w)
            if ((w = write(to, block + done, (size_t)(n - done))) < 0)
                return -errno;
    }
}

/* Is it a shared object with all of its parts? The loader maps what the headers name, and reading past the
 * end of a half written file would end the process. */
static bool is_whole(const unsigned char *bytes, size_t n)
{
    ElfW(Ehdr) head;
    if (n < sizeof head || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (head.e_type != ET_DYN || head.e_phentsize != sizeof(ElfW(Phdr)) || head.e_phoff > n ||
        head.e_phnum > (n - head.e_phoff) / sizeof(ElfW(Phdr)))
        return false;
    for (size_t i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        memcpy(&part, bytes + head.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD && (part.p_offset > n || part.p_filesz > n - part.p_offset))
            return false;
    }
    return true;
}

/* The file's contents in memory of our own, as a descriptor, and mapped. */
static int take(const char *path, struct indicator_plugin_file *ret, int *ret_fd, char *err, size_t err_cap)
{
    struct stat st;
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (from < 0 || fstat(from, &st) < 0) {
        int r = -errno;
        if (from >= 0)
            close(from);
        return fail_with(r, err, err_cap, "%.400s: %s", path, strerror(-r));
    }
    int r = check_owner(path, &st, err, err_cap), fd = -1;
    if (r == 0 && (fd = memfd_create("papertape-plugin", MFD_CLOEXEC)) < 0)
        r = fail_with(-errno, err, err_cap, "%.400s: a copy in memory: %s", path, strerror(errno));
    ssize_t n = r == 0 ? copy(from, fd, INDICATOR_PLUGIN_BYTES_MAX) : 0;
    if (n < 0)
        r = fail_with((int)n, err, err_cap, "%.400s: %s", path, strerror((int)-n));
    close(from);
    const char *bytes = r == 0 && n > 0 ? mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, fd, 0) : "";
    if (r == 0 && bytes == MAP_FAILED)
        r = fail_with(-errno, err, err_cap, "%.400s: a copy in memory: %s", path, strerror(errno));
    else if (r == 0 && !is_whole((const unsigned char *)bytes, (size_t)n))
        r = fail_with(-ENOEXEC, err, err_cap,
                      "%.400s: is no shared object, or not all of one: cc -shared -fPIC makes one", path);
    ret->bytes = bytes;
    ret->n = n > 0 ? (size_t)n : 0;
    snprintf(ret->path, sizeof ret->path, "%s", path);
    *ret_fd = fd;
    return r;
}

static void drop(const struct indicator_plugin_file *file, int fd)
{
    if (file->n > 0 && file->bytes && file->bytes != MAP_FAILED)
        munmap((void *)file->bytes, file->n);
    if (fd >= 0)
        close(fd);
}

static const struct indicator_plugin_file *known(const struct indicator_plugin_file *file)
{
    for (size_t i = 0; i < n_loaded; i++)
        if (strcmp(loaded[i]->path, file->path) == 0 && loaded[i]->n == file->n &&
            memcmp(loaded[i]->bytes, file->bytes, file->n) == 0)
            return loaded[i];
    return NULL;
}

/* The descriptor stays open: the loader takes a name that it knows for what it loaded by that name. */
static int link_copy(struct indicator_plugin_file *file, int fd, char *err, size_t err_cap)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    file->handle = INDICATOR_PLUGIN_CALL(file, dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
    if (file->handle)
        return 0;
    const char *why = dlerror(); /* begins with that name, as a rule */
    const char *rest = why && strncmp(why, name, strlen(name)) == 0 ? why + strlen(name) : NULL;
    return fail_with(-ELIBBAD, err, err_cap, "%.200s: cannot be loaded: %.200s", file->path,
                     rest  ? rest + strspn(rest, ": ")
                     : why ? why
                           : "no reason was given");
}

/* With the gate closed. */
static int load(struct indicator_plugin_file *file, int fd, const struct indicator_plugin_file **ret,
                char *err, size_t err_cap)
{
    const struct indicator_plugin_file *before = known(file);
    if (before) {
        drop(file, fd);
        *ret = before;
        return 0;
    }
    struct indicator_plugin_file *kept = malloc(sizeof *kept);
    int r = kept ? 0 : fail_with(-ENOMEM, err, err_cap, "%.400s: out of memory", file->path);
    if (r == 0 && n_loaded == INDICATOR_PLUGIN_FILES_MAX)
        r = fail_with(-EMFILE, err, err_cap,
                      "%.300s: %d shared objects have been loaded since this program started, which is the "
                      "most: start it again",
                      file->path, INDICATOR_PLUGIN_FILES_MAX);
    if (r == 0)
        r = link_copy(file, fd, err, err_cap);
    if (r < 0) {
        drop(file, fd);
        free(kept);
        return r;
    }
    *kept = *file;
    *ret = loaded[n_loaded++] = kept;
    return 0;
}

int indicator_plugin_load(const char *path, const struct indicator_plugin_file **ret, char *err,
                          size_t err_cap)
{
    struct indicator_plugin_file file = {0};
    int fd = -1;
    if (strlen(path) >= sizeof file.path)
        return fail_with(-ENAMETOOLONG, err, err_cap, "%.100s…: a path of at most %d bytes is needed", path,
                         INDICATOR_PLUGIN_PATH_MAX - 1);
    int r = take(path, &file, &fd, err, err_cap);
    if (r < 0) {
        drop(&file, fd);
        return r;
    }
    pthread_mutex_lock(&gate);
    r = load(&file, fd, ret, err, err_cap);
    pthread_mutex_unlock(&gate);
    return r;
}

/* ---- the table ---- */

enum { VERSION = 1, VERSIONS_TRIED = 9 };

/* The version of the function that it exports instead; 0: none. */
static int other_version(const struct indicator_plugin_file *file, const char *name)
{
    char symbol[64];
    for (int version = VERSION + 1; version <= VERSIONS_TRIED; version++) {
        snprintf(symbol, sizeof symbol, "%s_v%d", name, version);
        if (dlsym(file->handle, symbol))
            return version;
    }
    return 0;
}

static int refuse_version(const struct indicator_plugin_file *file, const char *header, unsigned version,
                          char *err, size_t err_cap)
{
    return fail_with(-EINVAL, err, err_cap,
                     "%.300s: made for version %u of %s, this program has %d: build it again", file->path,
                     version, header, VERSION);
}

int indicator_plugin_table(const struct indicator_plugin_file *file, const char *name, const char *header,
                           size_t least, const void **ret, char *err, size_t err_cap)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s_v%d", name, VERSION);
    const void *(*function)(void);
    *(void **)&function = dlsym(file->handle, symbol);
    if (!function) {
        int other = other_version(file, name);
        return other > 0
                   ? refuse_version(file, header, (unsigned)other, err, err_cap)
                   : fail_with(-ENOENT, err, err_cap, "%.300s: it exports no %s(): %s says what that is",
                               file->path, symbol, header);
    }
    const uint32_t *table = INDICATOR_PLUGIN_CALL(file, function());
    if (!table)
        return fail_with(-EINVAL, err, err_cap, "%.300s: %s() returned NULL: a table is needed", file->path,
                         symbol);
    if (table[1] != VERSION)
        return refuse_version(file, header, table[1], err, err_cap);
    if (table[0] < least)
        return fail_with(
            -EINVAL, err, err_cap,
            "%.300s: the table of %s() says that it has %u bytes: sizeof, at least %zu, is needed",
            file->path, symbol, table[0], least);
    *ret = table;
    return 0;
}

int indicator_plugin_copy(const void *table, uint32_t size, void *ret, size_t known_size)
{
    const unsigned char *bytes = table;
    for (size_t i = known_size; i < size; i++)
        if (bytes[i] != 0)
            return -EINVAL;
    memset(ret, 0, known_size);
    memcpy(ret, table, size < known_size ? size : known_size);
    return 0;
}
