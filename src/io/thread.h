/*
 * thread.h - threads of io beside those of the program.
 *
 * Signals are the business of the threads that were there before, but for those that a write to
 * nowhere raises in the thread that writes.
 */
#ifndef TROD_IO_THREAD_H
#define TROD_IO_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* A thread that runs RUN(USER). False: there is none. */
static inline bool trod_thread_start(pthread_t *thread, void *(*run)(void *), void *user)
{
    sigset_t most, old;
    bool started;

    sigfillset(&most);
    sigdelset(&most, SIGPIPE);
    sigdelset(&most, SIGXFSZ);
    pthread_sigmask(SIG_SETMASK, &most, &old);
    started = pthread_create(thread, NULL, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

#endif
