/* The metrics at /metrics: one row each, from which the text, its HELP and TYPE, and the table of
 * docs/prometheus.md are made. A row names a member of the status (docs/control.md), so that the numbers of
 * both are one. */
#ifndef DAEMON_HTTP_METRIC_ROWS_H
#define DAEMON_HTTP_METRIC_ROWS_H

#include <stddef.h>

#define DAEMON_METRICS_PREFIX "papertape_"

enum daemon_metric_type { METRIC_GAUGE, METRIC_COUNTER, METRIC_HISTOGRAM };

/* How a sample follows from the status; without a value (null) there is none. */
enum daemon_metric_kind {
    METRIC_NUMBER,  /* the member, times `factor` */
    METRIC_FLAG,    /* a boolean: 1 or 0 */
    METRIC_ONE,     /* 1: its labels say it */
    METRIC_SIZE,    /* how many elements the member, an array, has */
    METRIC_WORDS,   /* the member is one of `words`: a sample each, 1 for it, with the label `state` */
    METRIC_MAP,     /* an object of numbers: a sample each, with the label `words` for its key; 0 for a key of
                       `keys`, where given, that it lacks */
    METRIC_PROCESS, /* of the daemon's process, by `member`: by the system, no part of the status */
    METRIC_TIMES,   /* the histogram of db.commit_times, in seconds */
    METRIC_LEFT_OUT, /* samples that other rows left out: METRIC_SAMPLES_MAX */
};

/* Of a row, beyond which elements of the status' list are left out: it bounds the labels' number. */
enum { METRIC_SAMPLES_MAX = 1024 };

struct daemon_metric {
    const char *name; /* behind the prefix */
    const char *help;
    const char
        *list; /* the path of an object, or "venues[]", of whose elements each is a sample; "": the status */
    const char *member; /* of it; "": the list itself */
    const char *labels; /* members, with blanks between; "": none */
    enum daemon_metric_type type;
    enum daemon_metric_kind kind;
    double factor; /* to base units; 0 is 1 */
    const char *words;
    const char *(*keys)(int i); /* from 0 on; NULL behind the last one */
};

/* "papertape_"; "" of a process' metrics, which all programs name alike. */
const char *daemon_metric_prefix(const struct daemon_metric *row);

const struct daemon_metric *daemon_metric_rows(size_t *ret_n);

/* "gauge", "counter", "histogram" */
const char *daemon_metric_type_name(enum daemon_metric_type type);

#endif
