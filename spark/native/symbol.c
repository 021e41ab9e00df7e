/* The symbol in a file's name, by the rule of the program. */
#include <errno.h>
#include <string.h>

#include "exchange/bars_name.h"
#include "exchange/fail.h"
#include "spark/native/papertape_spark.h"

int papertape_spark_symbol(const char *path, char ret[static PAPERTAPE_SPARK_SYMBOL_MAX], char *err,
                           size_t err_cap)
{
    _Static_assert((int)SYMBOL_NAME_MAX <= (int)PAPERTAPE_SPARK_SYMBOL_MAX, "a symbol has room");
    struct bars_name name;
    if (bars_name_parse(path, &name) < 0)
        return fail_with(-EINVAL, err, err_cap,
                         "%.300s: no symbol is in its name, or one of more than %d letters: a name like "
                         "BTCUSDT_1m.parquet, a folder symbol=BTCUSDT or a column symbol is needed",
                         path, SYMBOL_NAME_MAX - 1);
    memcpy(ret, name.symbol, sizeof(name.symbol));
    return 0;
}
