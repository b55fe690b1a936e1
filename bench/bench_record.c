/*
 * bench_record.c - recording programs: instructions a second from the start to the finished,
 * compressed trace, beside the same program under QEMU alone.
 *
 * x86-64: gzip of this machine compresses a file of TROD_BENCH_MB (default 2) mebibytes. The others
 * are a program compiled here, where there is a cross compiler; what is missing is said on standard
 * error. Wall time: QEMU, the plugin and the recorder share the processors.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEFAULT_MB = 2 };

static char dir[256];

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

/* Run COMMAND by the shell in DIR. Returns its status. */
static int shell(const char *command)
{
    char full[2048];
    int status;

    snprintf(full, sizeof full, "cd '%s' && %s", dir, command);
    status = system(full);
    return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int timed(void *user)
{
    return shell(user);
}

/* Instructions that the recorder's summary, in DIR/said, tells of. */
static double instructions(void)
{
    char path[512], line[512];
    double n = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/said", dir);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *p = strstr(line, ": ");

        if (p && strstr(line, " instructions and "))
            n = strtod(p + 2, NULL);
    }
    if (f)
        fclose(f);
    if (n == 0)
        die("the recorder told no instructions");
    return n;
}

struct program {
    const char *name, *qemu, *compiler; /* compiler NULL: none is needed */
    const char *run;                    /* in dir; what is recorded */
    const char *how;                    /* options of trod record */
    const char *want;
};

static const struct program programs[] = {
    {"record.x86-64.drmemtrace-zip", "qemu-x86_64", NULL, "gzip -c input", "-o t.d", "value >= 15"},
    {"record.powerpc.tt6", "qemu-ppc", "powerpc-linux-gnu-gcc", "./work", "-o t.tt6",
     "value >= 20"},
    {"record.aarch64.tarmac", "qemu-aarch64", "aarch64-linux-gnu-gcc", "./work",
     "--to tarmac -z zstd -o t.tarmac.zst", "value >= 3"},
    {"record.aarch64.tarmac-registers", "qemu-aarch64", "aarch64-linux-gnu-gcc", "./work",
     "--registers --to tarmac -z zstd -o t.tarmac.zst", "value >= 1"},
};

static const char work[] = "cat >work.c <<'EOS'\n"
                           "#include <stdio.h>\n"
                           "static unsigned char b[65536];\n"
                           "int main(void)\n"
                           "{\n"
                           "    unsigned h = 1;\n"
                           "    for (int r = 0; r < 40; r++)\n"
                           "        for (int i = 0; i < 65536; i++) {\n"
                           "            b[i] += (unsigned char)(h >> 3);\n"
                           "            h = h * 31 + b[i];\n"
                           "            if (h & 1) h ^= 0x55;\n"
                           "        }\n"
                           "    printf(\"%u\\n\", h);\n"
                           "    return 0;\n"
                           "}\n"
                           "EOS\n";

/* A text that compresses as texts do. */
static void make_input(size_t bytes)
{
    char path[512];
    uint64_t seed = 7;
    FILE *f;

    snprintf(path, sizeof path, "%s/input", dir);
    f = fopen(path, "w");
    if (!f)
        die(path);
    for (size_t n = 0; n < bytes;)
        n += (size_t)fprintf(f, "%08x R X%u %016llx\n", (unsigned)(0x8000 + n / 9),
                             (unsigned)(bench_rand(&seed) % 31),
                             (unsigned long long)(bench_rand(&seed) % 4096));
    fclose(f);
}

static void measure(const struct program *p, const char *trod)
{
    char alone[512], record[1024], compile[512];
    double qemu, both, n;

    snprintf(compile, sizeof compile, "command -v %s >/dev/null", p->qemu);
    if (shell(compile) != 0) {
        fprintf(stderr, "bench: %s: no %s\n", p->name, p->qemu);
        return;
    }
    if (p->compiler) {
        snprintf(compile, sizeof compile, "%s -O1 -static -o work work.c 2>/dev/null", p->compiler);
        if (shell(compile) != 0) {
            fprintf(stderr, "bench: %s: no %s\n", p->name, p->compiler);
            return;
        }
    }
    /* QEMU wants a file */
    snprintf(alone, sizeof alone, "set -- %s; %s $(command -v $1) $2 $3 >/dev/null", p->run,
             p->qemu);
    snprintf(record, sizeof record, "rm -rf t.d && '%s' record %s -- %s >/dev/null 2>said", trod,
             p->how, p->run);
    qemu = bench_best(bench_wall, timed, alone);
    both = bench_best(bench_wall, timed, record);
    n = instructions();
    bench_ratio(p->name, n / 1e6 / both, "M/s", "time of QEMU alone", both / qemu, p->want);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR"), *trod = getenv("TROD");

    if (!trod)
        die("TROD must name the command");
    snprintf(dir, sizeof dir, "%s/trod-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        die(dir);
    make_input(bench_bytes(DEFAULT_MB));
    if (shell(work) != 0)
        die("cannot write work.c");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        measure(&programs[i], trod);
    if (shell("cd / && rm -r \"$OLDPWD\"") != 0)
        die("cannot clean up");
    return 0;
}
