/*
 * pager.c - listings on a terminal go through a pager.
 *
 * $TROD_PAGER, $PAGER or less; empty or "cat" mean none. The pager ends when the user leaves it:
 * this program waits for that whatever ends it first, or the shell would fight it for the terminal.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

static volatile pid_t pager;
static volatile sig_atomic_t paged_errors;

/* Only functions that signal handlers may call. */
static void wait_for_pager(void)
{
    close(STDOUT_FILENO);
    if (paged_errors)
        close(STDERR_FILENO);
    if (pager > 0)
        waitpid(pager, NULL, 0);
}

static void on_signal(int number)
{
    wait_for_pager();
    signal(number, SIG_DFL);
    raise(number);
}

static void at_exit(void)
{
    fflush(stdout);
    wait_for_pager();
}

/* Is there an executable NAME in $PATH? */
static bool in_path(const char *name)
{
    const char *p = getenv("PATH");
    struct trod_buf b = {0};
    bool found = false;

    while (p && *p && !found) {
        size_t n = strcspn(p, ":");

        b.n = 0;
        if (trod_buf_printf(&b, "%.*s/%s", (int)n, p, name) != 0 || trod_buf_add(&b, "", 1) != 0)
            break;
        found = access((const char *)b.p, X_OK) == 0;
        p += n + (p[n] == ':');
    }
    trod_buf_fini(&b);
    return found;
}

static const char *command(void)
{
    const char *names[] = {"TROD_PAGER", "PAGER"};

    for (size_t i = 0; i < 2; i++) {
        const char *value = getenv(names[i]);

        if (value)
            return *value && strcmp(value, "cat") != 0 ? value : NULL;
    }
    return in_path("less") ? "less" : NULL;
}

static void become_pager(const char *name, const int fds[2])
{
    dup2(fds[0], STDIN_FILENO);
    close(fds[0]);
    close(fds[1]);
    /* -F: leave at once if it fits; -R: colours; -S: rows stay rows; -X: leave the screen */
    setenv("LESS", "FRSX", 0);
    setenv("LV", "-c", 0);
    execl("/bin/sh", "sh", "-c", name, (char *)NULL);
    _exit(127);
}

bool cli_pager_wanted(const struct cli *c)
{
    const char *term = getenv("TERM");

    return pager == 0 && !c->common->no_pager && cli_terminal(STDOUT_FILENO) && command() && term &&
           strcmp(term, "dumb") != 0;
}

void cli_pager_start(struct cli *c)
{
    static const int numbers[] = {SIGPIPE, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    const char *name = command();
    void (*interrupted)(int);
    int fds[2];
    pid_t pid;

    if (!cli_pager_wanted(c) || pipe(fds) != 0)
        return;
    cli_fold(); /* while it is a terminal */
    fflush(stdout);
    /* Ctrl-C is meant for the pager, which goes on; leaving that ends us */
    interrupted = signal(SIGINT, SIG_IGN);
    pid = fork();
    if (pid <= 0)
        signal(SIGINT, interrupted);
    if (pid == 0)
        become_pager(name, fds);
    if (pid > 0) {
        pager = pid;
        dup2(fds[1], STDOUT_FILENO);
        paged_errors = cli_terminal(STDERR_FILENO);
        if (paged_errors)
            dup2(fds[1], STDERR_FILENO); /* messages between the rows, not across them */
        sigemptyset(&action.sa_mask);
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
            sigaction(numbers[i], &action, NULL);
        atexit(at_exit);
    }
    close(fds[0]);
    close(fds[1]);
}
