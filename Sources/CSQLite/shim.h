#ifndef FRESHET_CSQLITE_SHIM_H
#define FRESHET_CSQLITE_SHIM_H

// SQLite 3.40 as Debian 12 has it. No `link` line stands in the module map: pkg-config supplies the flags.
// Nothing needs a wrapper: the variadic calls and the destructor constants, which Swift cannot say, are not used.

#include <sqlite3.h>

#endif
