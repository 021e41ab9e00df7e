#include "trainer/study/stale_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "exchange/whole_file.h"

enum { FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static bool is_rest(const char *name)
{
    for (const char *at = name; (at = strstr(at, STUDY_TEMPORARY)); at++)
        if (at > name && whole_file_is_rest(at, STUDY_TEMPORARY))
            return true;
    return false;
}

static bool is_old(int fd, const char *name, int older_s)
{
    struct stat st;
    return older_s == 0 ||
           (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && time(NULL) - st.st_mtim.tv_sec >= older_s);
}

static DIR *open_again(int fd)
{
    int own = openat(fd, ".", FOLDER_FLAGS); /* closedir() closes it */
    DIR *folder = own >= 0 ? fdopendir(own) : NULL;
    if (!folder && own >= 0)
        close(own);
    return folder;
}

void study_stale_files_remove(int fd, int older_s)
{
    DIR *folder = open_again(fd);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_rest(entry->d_name) && is_old(fd, entry->d_name, older_s))
            (void)unlinkat(fd, entry->d_name, 0);
    if (folder)
        closedir(folder);
}

void study_stale_files_remove_all(const char *folder, int older_s)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = fd >= 0 ? open_again(fd) : NULL;
    if (fd >= 0)
        study_stale_files_remove(fd, older_s);
    for (struct dirent *entry; all && (entry = readdir(all));) {
        int trial = entry->d_name[strspn(entry->d_name, "0123456789")] == '\0'
                        ? openat(fd, entry->d_name, FOLDER_FLAGS)
                        : -1;
        if (trial < 0)
            continue;
        study_stale_files_remove(trial, older_s);
        close(trial);
    }
    if (all)
        closedir(all);
    if (fd >= 0)
        close(fd);
}
