/* recorded.c reads and plays, recorded_rest.c answers. */
#ifndef EXCHANGE_REPLAY_ALPACA_RECORDED_INTERNAL_H
#define EXCHANGE_REPLAY_ALPACA_RECORDED_INTERNAL_H

#include <jansson.h>

#include "exchange/replay/alpaca/recorded.h"
#include "exchange/replay/ladder.h"
#include "exchange/replay/lines.h"

struct recorded_reply {
    int64_t ts_ns;
    char *url; /* the path with its arguments, as it was requested */
    char *body;
    size_t len;
};

struct recorded_bar {
    char symbol[SYMBOL_NAME_MAX], timeframe[12]; /* "1Min" */
    bool streamed, adjusted;
    int64_t open_ns, known_ns;
    size_t order;
    json_t *bar;
};

struct recorded_book {
    char symbol[SYMBOL_NAME_MAX];
    struct replay_ladder bids, asks; /* of scale 9 */
    bool whole;                      /* it was sent whole, and is updated since */
};

struct recorded_file {
    struct lines lines;
    struct frame_line line; /* the one to play next */
    bool ended;
};

struct replay_recorded {
    struct recorded_file *files;
    size_t n_files;
    struct recorded_reply *replies;
    size_t n_replies;
    struct recorded_bar *bars; /* by symbol, timeframe, time, and when they became known */
    size_t n_bars;
    struct recorded_book books[RECORDED_BOOKS_MAX];
    int n_books;
};

/* A value of a message or a reply, with its key where it has one; "t" is a time. */
void replay_recorded_put(struct wire *wire, const char *key, const json_t *value);

/* A time as it stands in a message. 0 or -EINVAL. */
int replay_recorded_time(const json_t *time, int64_t *ret_ns);

/* Keeps a reply, and its bars. 0 or -ENOMEM. */
int replay_recorded_keep_reply(struct replay_recorded *recorded, const struct frame_line *line);
/* Keeps a bar; takes no reference. */
int replay_recorded_keep_bar(struct replay_recorded *recorded, const struct recorded_bar *bar);
void replay_recorded_sort(struct replay_recorded *recorded);

#endif
