/* What a shard asks the venue for. Internal to exchange/binance/shard.c. */
#ifndef EXCHANGE_BINANCE_SHARD_SEND_H
#define EXCHANGE_BINANCE_SHARD_SEND_H

#include "exchange/binance/shard.h"

/* BASE/stream?streams=a/b/cSUFFIX for one of its connections, with as many names as fit: the others are asked
 * for when it is open. */
void binance_shard_url(struct shard *shard, int which, char *url, size_t size);

/* Sends one request or ping on a connection, if one is due; it keeps within the venue's limit of messages.
 * Returns when the next is due. */
int64_t binance_shard_send(struct shard *shard, int which, int64_t now_ms);

#endif
