/*
 * near.h - branches of x86-64 that are relative to where they end.
 *
 * Each has an opcode of its own because of its displacement, and programs have many of them. All
 * but where they lead to follows from the bytes before it.
 */
#ifndef TROD_ENGINE_NEAR_H
#define TROD_ENGINE_NEAR_H

#include <stdint.h>

/*
 * Of the N opcode bytes at CODE how many lie before the displacement, if this is such a branch
 * without prefixes: Jcc, JMP, CALL with 8 or 32 bits. 0: it is not. (Intel SDM, volume 2.)
 */
static inline uint32_t engine_near_branch(const uint8_t *code, uint32_t n)
{
    if (n == 2)
        return (code[0] & 0xf0) == 0x70 || code[0] == 0xeb;
    if (n == 5)
        return code[0] == 0xe8 || code[0] == 0xe9;
    return n == 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? 2 : 0;
}

/* The target of the branch CODE at address PC; AT: the result of engine_near_branch. */
static inline uint64_t engine_near_target(uint64_t pc, const uint8_t *code, uint32_t n, uint32_t at)
{
    uint32_t v = 0;

    for (uint32_t i = at; i < n; i++)
        v |= (uint32_t)code[i] << (8 * (i - at));
    return pc + n + (n - at == 1 ? (uint64_t)(int64_t)(int8_t)v : (uint64_t)(int64_t)(int32_t)v);
}

#endif
