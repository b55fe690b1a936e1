/*
 * interrupt.c - signals: one that ends the program takes away outputs that are not complete; one
 * during a run (Ctrl-C, SIGTERM) ends its reading, and there are results of what was read.
 *
 * Of the former a thread waits for the signals, so that it may do what a handler must not. Signals
 * that whoever started the program ignores stay ignored.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"

static sigset_t ending;
static volatile bool stopped;

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

static void stop(int number)
{
    (void)number;
    stopped = true;
    trod_inputs_interrupt();
}

const volatile bool *cli_stop(void)
{
    return &stopped;
}

int cli_run_go(struct cli *c, struct trod_run *run, struct cli_progress *progress,
               struct trod_diag *diag)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    const struct sigaction a = {.sa_handler = stop, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before[sizeof numbers / sizeof *numbers];
    int r;

    stopped = false;
    cli_progress_begin(progress, c);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &a, &before[i]);
    r = trod_run_go(run);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &before[i], NULL);
    cli_progress_end(progress);
    if (trod_run_stopped(run)) {
        trod_warning(diag, TROD_ERR_TRUNCATED, "run.interrupted", NULL,
                     "interrupted: results are those of what was read");
        c->trouble = true;
    }
    return r;
}
