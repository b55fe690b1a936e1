/*
 * sum.c - the program of the recorded examples: adds up eight numbers and ends, without a C
 * library.
 *
 *   cc -O1 -static -nostdlib -ffreestanding -fno-stack-protector -fcf-protection=none -o sum sum.c
 *   powerpc-linux-gnu-gcc -O1 -static -nostdlib -ffreestanding -o sum-ppc sum.c
 */
static int numbers[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static volatile int total;

static __attribute__((noinline)) int sum(const int *p, int n)
{
    int s = 0;

    for (int i = 0; i < n; i++)
        s += p[i];
    return s;
}

static void leave(int status)
{
#if defined(__x86_64__)
    __asm__ volatile("syscall" : : "a"(60), "D"(status) : "rcx", "r11", "memory");
#elif defined(__powerpc__)
    register int number __asm__("r0") = 1, argument __asm__("r3") = status;

    __asm__ volatile("sc" : : "r"(number), "r"(argument) : "memory");
#endif
}

void _start(void)
{
    total = sum(numbers, 8);
    leave(total == 31 ? 0 : 1);
}
