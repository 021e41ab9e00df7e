/* The list of venues: the only place outside their folders that names them. */
#ifndef EXCHANGE_VENUES_H
#define EXCHANGE_VENUES_H

#include "exchange/venue.h"

/* All of them, in order of their names. */
const struct venue *const *venues_known(size_t *ret_n);

/* By name, or NULL. */
const struct venue *venue_find(const char *name);

/* What the data of a URL's host are: "live", of a venue's own or documented hosts; "testnet"; "loopback", of
 * this machine; "": of a host that no venue names. */
const char *venue_host_kind(const char *url);

/* The venue of a configuration that names none. */
const struct venue *venue_default(void);

#endif
