/* Whatever the text: refused with a sentence that names the file, or a configuration whose own text is read
 * back as the same one; and the list of all errors is empty where there is no first error. */
#include <stdlib.h>
#include <string.h>

#include "trainer/config.h"

static void take_error(void *ctx, int line, const char *section, const char *key, const char *message)
{
    (void)section;
    (void)key;
    *(int *)ctx += 1;
    if (line < 0 || !*message)
        abort();
    for (; *message; message++)
        if ((unsigned char)*message < ' ')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct train_config config, again;
    char err[CONFIG_ERROR_MAX] = "", *text = malloc(size + 1);
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    int r = train_config_parse("F", text, &config, err), reported = 0;
    int n = train_config_errors("F", text, &again, take_error, &reported);
    if (n != reported || (n > 0) != (r < 0) ||
        (n == 0 && train_config_continues(&config, &again, NULL, NULL, err) < 0))
        abort();
    free(text);
    if (r < 0) {
        if (!strstr(err, "F") || strlen(err) >= sizeof err - 1)
            abort();
        return 0;
    }
    text = train_config_text(&config);
    if (!text || train_config_parse("again", text, &again, err) < 0 ||
        train_config_continues(&config, &again, NULL, NULL, err) < 0)
        abort();
    char *second = train_config_text(&again);
    if (!second || strcmp(text, second) != 0)
        abort();
    free(text);
    free(second);
    return 0;
}
