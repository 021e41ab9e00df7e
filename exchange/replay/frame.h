/* Recorded lines and the frames in them.
 *
 * Three spellings of a line: `NS {frame}`; `SECONDS.FRACTION: {frame}`; `URL -> SECONDS.FRACTION: {reply}`.
 * A line `URL <-> SECONDS.FRACTION` only names a connection; a bare reply of exchangeInfo is one, of the
 * beginning of time. Frames are combined (`{"stream":…,"data":…}`), raw (distinguished by their event
 * type), or a REST depth snapshot. */
#ifndef EXCHANGE_REPLAY_FRAME_H
#define EXCHANGE_REPLAY_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/json.h"
#include "exchange/replay/candles.h"
#include "exchange/replay/ladder.h"
#include "exchange/replay/tape.h"

struct frame_line {
    int64_t ts_ns;          /* when it was received */
    struct json_text url;   /* of a REST reply; else empty */
    struct json_text frame; /* empty for a line that only names a connection */
};

enum frame_kind {
    FRAME_STREAM,
    FRAME_SNAPSHOT, /* a REST reply of depth */
    FRAME_OTHER,    /* another reply */
};

struct replay_frame {
    enum frame_kind kind;
    struct json_text stream; /* its name; for a raw frame empty: see replay_frame_raw_name() */
    struct json_text data;   /* the data object, as it stands */
};

/* Growing arrays that the readers below fill. */
struct frame_levels {
    struct level *bids, *asks;
    size_t n_bids, n_asks, cap_bids, cap_asks;
};

/* Each reads one thing; 0, -EINVAL when it is not that, or -ENOMEM. Texts point into the line. */
int replay_frame_line_read(const char *line, size_t len, struct frame_line *ret);
int replay_frame_read(struct json_text text, struct replay_frame *ret);

/* The stream's name that a raw frame belongs to ("btcusdt@trade"), into name[64]. 0; -EINVAL; -ENOENT for
 * one that names no symbol. An event of a kind that is not made here is a stream of its own name. */
int replay_frame_raw_name(struct json_text data, char name[static 64]);

int replay_frame_trade(struct json_text data, struct tape_trade *ret);
int replay_frame_agg_trade(struct json_text data, struct tape_trade *ret, int64_t *ret_first_id,
                           int64_t *ret_last_id);
int replay_frame_quote(struct json_text data, uint64_t *ret_id, struct level *ret_bid, struct level *ret_ask);
/* The first id is the one after `pu` where the message has that (futures), so that each joins on to the last.
 */
int replay_frame_depth(struct json_text data, int64_t *ret_event_ns, uint64_t *ret_first_id,
                       uint64_t *ret_last_id, struct frame_levels *levels);
int replay_frame_snapshot(struct json_text data, uint64_t *ret_last_id, struct frame_levels *levels);
int replay_frame_kline(struct json_text data, int64_t *ret_event_ns, struct candle *ret);

void replay_frame_levels_finish(struct frame_levels *levels);

#endif
