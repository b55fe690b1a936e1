/*
 * interrupt.c - a signal that ends the run takes away what was not finished.
 *
 * A thread waits for the signals, so that it may do what a handler must not. Signals that whoever
 * started the program ignores stay ignored.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"

static sigset_t ending;

static void *wait_for_signal(void *user)
{
    int number = SIGTERM;

    (void)user;
    if (sigwait(&ending, &number) != 0)
        return NULL;
    trod_output_abandon();
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &ending, NULL);
    kill(getpid(), number);
    _exit(128 + number);
}

void cli_interrupt_begin(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction now;
    sigset_t all, old;
    pthread_t thread;

    sigemptyset(&ending);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&ending, numbers[i]);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (pthread_create(&thread, NULL, wait_for_signal, NULL) == 0)
        pthread_detach(thread);
    else
        sigemptyset(&ending); /* signals end the run as they do otherwise */
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
}
