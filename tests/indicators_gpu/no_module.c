/* A shared object that is no module of this program. */
extern const int no_module;
const int no_module = 1;
