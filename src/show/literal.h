/*
 * literal.h - a string that every text matching a pattern must contain: texts without it need not
 * be tried.
 *
 * Document: IEEE Std 1003.1-2017, "Extended Regular Expressions".
 */
#ifndef SHOW_LITERAL_H
#define SHOW_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct show_literal {
    char s[24]; /* NOCASE: in lower case */
    uint8_t n;  /* 0: nothing is known */
    bool nocase;
};

/* Of PATTERN, an extended regular expression that was compiled; NOCASE: with REG_ICASE. */
struct show_literal show_literal_of(const char *pattern, bool nocase);
/* May the N bytes at S match the pattern that L is of? */
bool show_literal_in(const struct show_literal *l, const char *s, size_t n);

#endif
