// For valgrind, which writes to the mask that sigsuspend is given: libdispatch keeps its mask where nothing can be written.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return syscall(SYS_rt_sigsuspend, &copy, 8);
}
