/* Loaded before libc while callgrind counts. valgrind 3.19 strikes a signal of its own out of sigsuspend's mask where it
   stands, and libdispatch's mask stands in read-only memory: the program would die. A copy on the stack can be written. */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    /* The kernel's mask has 64 signals: 8 bytes. */
    return (int)syscall(SYS_rt_sigsuspend, &copy, 8);
}
