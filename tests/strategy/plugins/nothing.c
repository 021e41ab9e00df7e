/* A shared object that is neither a strategy nor has indicators. */
int papertape_something_else(void);

int papertape_something_else(void)
{
    return 1;
}
