/* Lets a program's wall clock show the CPU seconds that it has used, so that its time limit means CPU seconds:
 *     gcc -O2 -shared -fPIC -o cpu_clock.so benchmarks/binary/cpu_clock.c
 *     LD_PRELOAD=$PWD/cpu_clock.so python ...
 * runs.py does this for the peers, whose limits are wall seconds, when CPU_CLOCK names the library. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *ts) {
    const int wall = id == CLOCK_MONOTONIC || id == CLOCK_REALTIME || id == CLOCK_MONOTONIC_RAW;
    return (int)syscall(SYS_clock_gettime, wall ? CLOCK_PROCESS_CPUTIME_ID : id, ts);
}

int gettimeofday(struct timeval *tv, void *zone) {
    struct timespec ts;
    (void)zone;
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &ts);
    tv->tv_sec = ts.tv_sec, tv->tv_usec = ts.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec ts;
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &ts);
    if (out) *out = ts.tv_sec;
    return ts.tv_sec;
}
