/* What a later papertape's header may make: no version that this program knows. */
const void *papertape_strategy_v2(void);
const void *papertape_indicator_v3(void);

const void *papertape_strategy_v2(void)
{
    return 0;
}

const void *papertape_indicator_v3(void)
{
    return 0;
}
