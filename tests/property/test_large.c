/*
 * test_large.c - much input, large records and junk: an answer, never a crash, bounded memory.
 *
 * The command runs on streams that are generated while it reads, with its address space limited to
 * LIMIT_MB and its resident memory looked at afterwards. Numbers in the answers come from how much
 * was generated. Not run under sanitizers, whose memory is their own.
 */
#include "prop.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MB = 512, RESIDENT_MB = 64, BLOCK = 1 << 16, ARGS = 12 };

/* What was said, and how it ended. */
struct answer {
    struct trod_buf text; /* standard output and error, with a NUL behind it */
    int status;           /* exit status, 1000 + signal */
    double resident_mb;
};

/* A writer of the stream: N blocks made by MAKE, which fills P and returns how many bytes. */
typedef size_t (*make_fn)(uint8_t *p, uint64_t i);

static void feed(int fd, make_fn make, uint64_t n)
{
    static uint8_t block[BLOCK];

    signal(SIGPIPE, SIG_IGN);
    for (uint64_t i = 0; i < n; i++) {
        size_t len = make(block, i);

        for (size_t k = 0; k < len;) {
            ssize_t w = write(fd, block + k, len - k);

            if (w <= 0)
                _exit(0); /* the reader has seen enough */
            k += (size_t)w;
        }
    }
    _exit(0);
}

static void run_command(int in, int out, const char *const *args)
{
    const struct rlimit limit = {(rlim_t)LIMIT_MB << 20, (rlim_t)LIMIT_MB << 20};
    const char *argv[ARGS + 2] = {test_command()};

    for (int i = 0; i < ARGS && args[i]; i++)
        argv[i + 1] = args[i];
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    setrlimit(RLIMIT_AS, &limit);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static struct answer run(const char *const *args, make_fn make, uint64_t n)
{
    char *dir = test_tmpdir(), *path = test_path(dir, "out");
    FILE *out = fopen(path, "wb");
    struct answer a = {0};
    struct rusage usage;
    int fd[2], status;
    pid_t writer, command;

    if (!out || pipe(fd) != 0)
        test_die("no pipe or file");
    if ((writer = fork()) == 0) {
        close(fd[0]);
        feed(fd[1], make, n);
    }
    if ((command = fork()) == 0) {
        close(fd[1]);
        run_command(fd[0], fileno(out), args);
    }
    close(fd[0]);
    close(fd[1]);
    if (writer < 0 || command < 0 || wait4(command, &status, 0, &usage) != command)
        test_die("fork failed");
    waitpid(writer, NULL, 0);
    fclose(out);
    a.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    a.resident_mb = (double)usage.ru_maxrss / 1024;
    a.text = test_load(path);
    if (trod_buf_add(&a.text, "", 1) < 0)
        test_die("out of memory");
    test_remove(dir);
    free(path);
    free(dir);
    return a;
}

/* The run ended with STATUS (-1: any exit), in bounded memory, and said WORDS (NULL: anything). */
static void expect(const char *const *args, make_fn make, uint64_t n, int status, const char *words)
{
    struct answer a = run(args, make, n);
    const char *text = (const char *)a.text.p;

    if (a.status >= 3 || (status >= 0 && a.status != status))
        fail_msg("%s %s: ended with %d: %.600s", args[0], args[1], a.status, text);
    if (a.resident_mb > RESIDENT_MB)
        fail_msg("%s %s: took %.0f MiB", args[0], args[1], a.resident_mb);
    if (a.text.n <= 1 || (words && !strstr(text, words)))
        fail_msg("%s %s: '%s' is not in its answer: %.600s", args[0], args[1],
                 words ? words : "anything", text);
    trod_buf_fini(&a.text);
}

static size_t unknown_lines(uint8_t *p, uint64_t i)
{
    (void)i;
    for (size_t k = 0; k < 1000; k++)
        memcpy(p + 16 * k, "17 clk what is \n", 16);
    return 16000;
}

static void test_unknown_lines(void **state)
{
    const char *const args[] = {"info", "--from", "tarmac", "--format", "json", "-", NULL};

    (void)state;
    expect(args, unknown_lines, 10000, 0, "10000000");
}

static size_t one_line(uint8_t *p, uint64_t i)
{
    static const char head[] = "1 clk IT (1) 00001000 d503201f O EL1h_n : NOP\n2 clk R X0 ";

    if (i == 0) {
        memcpy(p, head, sizeof head - 1);
        return sizeof head - 1;
    }
    if (i == 1601) {
        static const char tail[] = "\n3 clk IT (2) 00001004 d503201f O EL1h_n : NOP\n";

        memcpy(p, tail, sizeof tail - 1);
        return sizeof tail - 1;
    }
    memset(p, '0', BLOCK);
    return BLOCK;
}

/* A line of 100 MB is skipped, with a word, and what stands around it is there. */
static void test_line_of_100_mb(void **state)
{
    const char *const args[] = {"view", "--from", "tarmac", "--kind", "INSTR", "-", NULL};

    (void)state;
    expect(args, one_line, 1602, -1, "0x00001000");
    expect(args, one_line, 1602, -1, "0x00001004");
}

static size_t wide_values(uint8_t *p, uint64_t i)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = (size_t)sprintf((char *)p, "%llu clk R Z%u ", (unsigned long long)i + 1,
                               (unsigned)(i % 32));

    for (int k = 0; k < 8192 / 4; k++)
        p[n++] = (uint8_t)digits[(unsigned)(i + (unsigned)k) % 16];
    p[n++] = '\n';
    return n;
}

static void test_values_of_8192_bits(void **state)
{
    const char *const info[] = {"info", "--from", "tarmac", "--format", "json", "-", NULL};
    const char *const view[] = {"view", "--from", "tarmac", "--range", "7..7", "-", NULL};
    struct answer a;

    (void)state;
    expect(info, wide_values, 20000, 0, "20000");
    a = run(view, wide_values, 20);
    /* row 7 begins with digit 7: sixteen digits on from any place */
    assert_int_equal(a.status, 0);
    assert_non_null(strstr((char *)a.text.p, "789abcdef0123456"));
    trod_buf_fini(&a.text);
}

static size_t nul_bytes(uint8_t *p, uint64_t i)
{
    (void)i;
    memset(p, 0, BLOCK);
    return BLOCK;
}

static size_t junk(uint8_t *p, uint64_t i)
{
    struct trod_gen g = gen_seed(i);

    for (size_t k = 0; k < BLOCK; k += 8) {
        uint64_t v = gen_u64(&g);

        memcpy(p + k, &v, 8);
    }
    return BLOCK;
}

/* Junk is not recognised; told what it is, each driver answers. */
static void test_junk(void **state)
{
    const char *const info[] = {"info", "-", NULL};

    (void)state;
    expect(info, nul_bytes, 1000, 2, "not recognised");
    expect(info, junk, 1000, 2, "not recognised");
    for (size_t i = 0; trod_format_at(i); i++) {
        const char *const told[] = {"info", "--from", trod_format_at(i)->name, "-", NULL};

        expect(told, nul_bytes, 300, -1, NULL);
        expect(told, junk, 300, -1, NULL);
    }
}

/* 2^32 is not the end: times, indices and sums of times go beyond. */
static size_t late_lines(uint8_t *p, uint64_t i)
{
    return (size_t)sprintf((char *)p, "%llu clk IT (%llu) 00001000 d503201f O EL1h_n : NOP\n",
                           (unsigned long long)i + 18446744073709551600u,
                           (unsigned long long)i + 4294967290u);
}

static size_t late_records(uint8_t *p, uint64_t i)
{
    static const uint8_t record[12] = {0, 0x10, 0, 0, 1, 8, 3, 0, 0xfe, 0xff, 0xff, 0xff};

    (void)i;
    for (size_t k = 0; k < 100; k++)
        memcpy(p + 12 * k, record, 12);
    return 1200;
}

static void test_beyond_32_bits(void **state)
{
    const char *const lines[] = {"view", "--from", "tarmac", "--native", "-", NULL};
    const char *const json[] = {"view", "--from", "tarmac", "--format", "json", "-", NULL};
    const char *const sums[] = {"view",     "--from", "byu12", "--range", "99..99",
                                "--format", "json",   "-",     NULL};

    (void)state;
    expect(lines, late_lines, 10, 0, "18446744073709551609 clk IT (4294967299)");
    expect(json, late_lines, 10, 0, "18446744073709551609");
    expect(json, late_lines, 10, 0, "4294967299");
    /* a hundred times 0xfffffffe */
    expect(sums, late_records, 2, 0, "429496729400");
}

static size_t plain_lines(uint8_t *p, uint64_t i)
{
    size_t n = 0;

    for (uint64_t k = 0; k < 400; k++)
        n += (size_t)sprintf((char *)p + n,
                             "%llu clk IT (%llu) %08llx d503201f O EL1h_n : NOP\n"
                             "%llu clk R X1 %016llx\n",
                             (unsigned long long)(i * 400 + k), (unsigned long long)(i * 400 + k),
                             (unsigned long long)(0x1000 + 4 * k),
                             (unsigned long long)(i * 400 + k), (unsigned long long)k);
    return n;
}

/* Memory is the same whatever the length: 300 MB of ordinary lines. */
static void test_long_trace(void **state)
{
    const char *const args[] = {"info", "--format", "json", "-", NULL};

    (void)state;
    expect(args, plain_lines, 9000, 0, "7200000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_lines),       cmocka_unit_test(test_line_of_100_mb),
        cmocka_unit_test(test_values_of_8192_bits), cmocka_unit_test(test_junk),
        cmocka_unit_test(test_beyond_32_bits),      cmocka_unit_test(test_long_trace),
    };

    if (!test_command())
        test_die("TROD does not name the command");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
