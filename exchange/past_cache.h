/* Compares what the disk has of a file with what the page cache shows of it.
 *
 * Where the kernel could not write a page back it reports that once, to each descriptor that was open, and
 * takes the page for clean: it reads well until it is evicted, and the disk has something else, or zeros.
 * So after a failed sync a read proves nothing, and a sync that succeeds next proves only what was written
 * again. */
#ifndef EXCHANGE_PAST_CACHE_H
#define EXCHANGE_PAST_CACHE_H

#include <stdint.h>

/* Compares both, from byte `from` up to `to`, or the file's end where that comes first, block by block; dirty
 * pages are written first. 1: the same; 0: not, and the first difference is in the block at *ret_at (may be
 * NULL); -errno, also of that writing. Reads with O_DIRECT. A file system that refuses it (tmpfs before
 * Linux 6.5, some FUSE) has the pages dropped after a sync and the file read again: that shows what the disk
 * has wherever pages can be dropped, and nothing where the page cache is the storage, as on tmpfs, which
 * cannot lose a page either. */
int past_cache_same(int dir, const char *name, int64_t from, int64_t to, int64_t *ret_at);

/* Writes those blocks of the file that differ again, as they read, and syncs. Only while no other process
 * writes the file. 1: the disk has all of it now; 0: it still does not; -errno. */
int past_cache_repair(int dir, const char *name, int64_t to);

/* Writes a file in the directory, takes it away again, and waits for the whole file system: so the blocks of
 * the directory, of the inode table and of the maps of free blocks, which may have been lost where they
 * belong, are journalled and written again. `dir` is a descriptor that was open when the failure came: 0: the
 * file system has written all it had; -errno. Only once files can be written: to force a file system's own
 * tables to a disk that is full makes ext4 end its journal. */
int past_cache_settle(int dir);

#endif
