#ifndef FRESHET_CTIMEX_H
#define FRESHET_CTIMEX_H

#include <string.h>
#include <sys/timex.h>

/// Whether a time service keeps the kernel's clock right (adjtimex(2)): 1 or 0, and -1 where the kernel does not tell.
static inline int freshet_clock_is_synchronised(void) {
    struct timex reading;
    // No modes: nothing is set.
    memset(&reading, 0, sizeof reading);
    int state = adjtimex(&reading);
    if (state < 0) { return -1; }
    return state != TIME_ERROR && (reading.status & STA_UNSYNC) == 0;
}

#endif
