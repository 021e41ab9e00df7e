#include "strategy/policy/observation.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

#include "strategy/policy/session_columns.h"

static const char *const scalings[] = {[FEATURE_UNSCALED] = "",
                                       [FEATURE_ZSCORE] = "zscore",
                                       [FEATURE_MINMAX] = "minmax",
                                       [FEATURE_NORMAL] = "normal"};

static void write_feature(FILE *out, const char *asset, const struct feature *feature, double norm)
{
    fprintf(out, "%s %s %s", asset, feature->name, scalings[feature->scaling]);
    if (feature->scaling == FEATURE_ZSCORE || feature->scaling == FEATURE_MINMAX)
        fprintf(out, " %.17g %.17g", feature->offset, feature->scale);
    for (int k = 0; k < FEATURE_KNOTS && feature->scaling == FEATURE_NORMAL; k++)
        fprintf(out, " %.17g", feature->knots[k]);
    fprintf(out, " * %.17g\n", norm);
}

static void write_layout(FILE *out, const struct observation_layout *layout)
{
    fprintf(out, "papertape.observation/1\ncash * %.17g\n", layout->norm_cash);
    for (int i = 0; i < layout->n_assets; i++)
        fprintf(out, "%s quantity * %.17g\n", layout->assets[i].name, layout->norm_stocks);
    for (int i = 0; i < layout->n_assets && layout->sets; i++)
        for (size_t f = 0; f < layout->sets[i]->n; f++)
            write_feature(out, layout->assets[i].name, &layout->sets[i]->features[f], layout->norm_tech);
    for (int i = 0; i < 2 * layout->n_assets && !layout->sets; i++)
        fprintf(out, "%s %s * %.17g\n", layout->assets[i % layout->n_assets].name,
                i < layout->n_assets ? "close" : "volume", layout->norm_tech);
    for (int k = 0; k < SESSION_COLUMNS; k++)
        if (layout->session_columns >> k & 1)
            fprintf(out, "row's session %s * %.17g\n", policy_session_column_names[k], layout->norm_tech);
    if (layout->session != SESSION_ALL)
        fprintf(out, "session %s, chained\n", session_choice_names[layout->session]);
    fprintf(out, "rows %d of %" PRId64 " ns, newest first\n", layout->lookback, layout->interval_ns);
}

int policy_observation_hash(const struct observation_layout *layout, char ret[static OBSERVATION_HASH_SIZE])
{
    unsigned char hash[EVP_MAX_MD_SIZE];
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return -ENOMEM;
    write_layout(out, layout);
    bool bad = ferror(out) != 0;
    bad |= fclose(out) != 0;
    bad = bad || EVP_Digest(text, n, hash, NULL, EVP_sha256(), NULL) != 1;
    free(text);
    if (bad)
        return -ENOMEM;
    for (int i = 0; i < (OBSERVATION_HASH_SIZE - 1) / 2; i++)
        snprintf(ret + 2 * i, 3, "%02x", hash[i]);
    return 0;
}
