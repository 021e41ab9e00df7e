/* Whatever the text: refused with a sentence that names the file, or a configuration whose own text is read
 * back as the same one. */
#include <stdlib.h>
#include <string.h>

#include "trainer/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config config, again;
    char err[CONFIG_ERROR_MAX] = "", *text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    int r = config_parse("F", text, &config, err);
    free(text);
    if (r < 0) {
        if (!strstr(err, "F") || strlen(err) >= sizeof err - 1)
            abort();
        return 0;
    }
    text = config_text(&config);
    if (!text || config_parse("again", text, &again, err) < 0 || config_continues(&config, &again, err) < 0)
        abort();
    char *second = config_text(&again);
    if (!second || strcmp(text, second) != 0)
        abort();
    free(text);
    free(second);
    return 0;
}
