/* Studies for scripts and pipes: lines of text, and JSON of papertape.study/1. */
#ifndef TUI_PRINT_STUDY_H
#define TUI_PRINT_STUDY_H

#include <jansson.h>
#include <stdio.h>

#include "tui/model.h"

/* A line a search: how far it is, its best trial. Why the storage could not be read comes first. */
void tui_print_studies(FILE *out, const struct model *model, struct moment now);

/* The same as an array of objects; null where the storage was never read. */
json_t *tui_print_studies_json(const struct model *model, struct moment now);

/* One search with its trials, parameters and their importance; validation where it was read. NULL without
 * memory. */
json_t *tui_print_study_json(const struct search_page *page, struct moment now);

/* As text: the line, its parameters by importance, its trials best first, at most `most` of them. */
void tui_print_study(FILE *out, const struct search_page *page, struct moment now, int most);

#endif
