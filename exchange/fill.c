#include "exchange/fill.h"

#include <errno.h>
#include <string.h>

const char *fill_model_name(enum fill_model model)
{
    static const char *const names[FILL_MODELS] = {
        [FILL_BOOK] = "book", [FILL_QUOTE] = "quote", [FILL_BAR] = "bar"};
    return (unsigned)model < FILL_MODELS ? names[model] : "";
}

const char *fill_beyond_name(enum fill_beyond beyond)
{
    static const char *const names[FILL_BEYONDS] = {
        [FILL_BEYOND_CANCEL] = "cancel", [FILL_BEYOND_IMPACT] = "impact", [FILL_BEYOND_WAIT] = "wait"};
    return (unsigned)beyond < FILL_BEYONDS ? names[beyond] : "";
}

static const struct {
    const char *name, *words;
} bases[FILL_BASES] = {
    [FILL_BASIS_NONE] = {"", ""},
    [FILL_BASIS_NBBO] = {"nbbo", "the national best bid and offer, and trades of all exchanges"},
    [FILL_BASIS_IEX] = {"iex", "quotes and trades of IEX alone, not the national best bid and offer"},
    [FILL_BASIS_DELAYED] = {"delayed", "the national best bid and offer of 15 minutes ago"},
    [FILL_BASIS_IMPACT] = {"impact", "an assumed price beyond the quantity shown"},
    [FILL_BASIS_OPENING] = {"opening", "the official opening price; the auction's quantity is not known"},
    [FILL_BASIS_CLOSING] = {"closing", "the official closing price; the auction's quantity is not known"},
    [FILL_BASIS_FIRST] = {"first-trade", "the first trade of the session: no official opening price came"},
    [FILL_BASIS_LAST] = {"last-trade", "the last trade of the session: no official closing price came"},
    [FILL_BASIS_VENUE] = {"venue", "the venue, in its account of simulated money"},
};

const char *fill_basis_name(enum fill_basis basis)
{
    return (unsigned)basis < FILL_BASES ? bases[basis].name : "";
}

const char *fill_basis_words(enum fill_basis basis)
{
    return (unsigned)basis < FILL_BASES ? bases[basis].words : "";
}

int fill_basis_parse(const char *name)
{
    for (int i = 0; i < FILL_BASES; i++)
        if (strcmp(bases[i].name, name) == 0)
            return i;
    return -EINVAL;
}

enum fill_basis fill_basis_of_feed(const char *feed)
{
    static const struct {
        const char *feed;
        enum fill_basis basis;
    } feeds[] = {{"sip", FILL_BASIS_NBBO}, {"iex", FILL_BASIS_IEX}, {"delayed_sip", FILL_BASIS_DELAYED}};
    for (size_t i = 0; i < sizeof feeds / sizeof *feeds; i++)
        if (strcmp(feed, feeds[i].feed) == 0)
            return feeds[i].basis;
    return FILL_BASIS_NONE;
}
