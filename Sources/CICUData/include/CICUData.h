// An empty package of ICU's data, in the form of ICU's own stubdata.cpp. A statically linked program has it in the place of the
// data that come with Foundation, the 34 MB of names, calendars and collations of all languages. Freshet uses none of them: it
// formats numbers and dates by itself, and the regular expressions of its YAML reader need no data. The build that wants it names
// the symbol, which has ICU's version: -Xcc -DFRESHET_ICU_DATA=icudt76_dat (deploy/package/package.sh). Else this is empty.
#pragma once

#include <stdint.h>
