/* The status as Prometheus' text (version 0.0.4). Pure. */
#ifndef DAEMON_HTTP_METRICS_H
#define DAEMON_HTTP_METRICS_H

#include <jansson.h>
#include <stdio.h>

#define DAEMON_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Every row of daemon/http/metric_rows.h: its HELP and TYPE, and the samples that the status, or what a
 * foreign object has of it, gives. */
void daemon_metrics_write(const json_t *status, FILE *to);

/* The table of docs/prometheus.md. */
void daemon_metrics_page(FILE *to);

#endif
