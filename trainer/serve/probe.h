/* A study or a training before it starts: `PROGRAM plan` reads its bars, opens a device, and measures, in a
 * process of its own, so that the loop waits for none of it. */
#ifndef TRAINER_SERVE_PROBE_H
#define TRAINER_SERVE_PROBE_H

struct serve;

enum {
    PROBE_MS = 60000,         /* then it is killed */
    PROBES_MAX = 4,           /* at a time, of checks and plans; readers may ask for checks */
    PROBE_TEXT_MAX = 1 << 16, /* bytes that are kept of its output, and of its errors */
};

enum probe_kind {
    PROBE_ROWS, /* `plan --rows`: do its rows suffice, and does it fit on the device? */
    PROBE_PLAN, /* the whole plan, on stdout */
};

/* `status`: its exit status; -1: it was not there, took too long, or the co-process ends. */
typedef void serve_probe_done(void *ctx, int status, const char *out, const char *err);

/* Begins one for a configuration's text; `done` is called once, later. 0, or -errno: it is never called. */
int serve_probe_begin(struct serve *serve, enum probe_kind kind, const char *text, serve_probe_done *done,
                      void *ctx);

/* How many there are. */
int serve_probes(const struct serve *serve);

/* Ends those that there are, each with -1; their processes are gone soon. */
void serve_probe_end_all(struct serve *serve);

#endif
