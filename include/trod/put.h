/*
 * put.h - numbers and strings into memory, fast: what every output is made of.
 *
 * Implements docs/design.md, rule 7: the emitter, the row listings and the text formats write their
 * numbers with these. Each function writes at P, where the room it names must be, and returns the
 * place after what it wrote. Nothing is NUL-terminated.
 */
#ifndef TROD_PUT_H
#define TROD_PUT_H

#include "trod/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TROD_PUT_U64 = 20, TROD_PUT_GROUPED = 26, TROD_PUT_TIME = 36 }; /* bytes these may need */

/* V in decimal: up to TROD_PUT_U64 bytes. */
char *trod_put_u64(char *p, uint64_t v);
/* V in decimal with a comma before every third digit from the right: TROD_PUT_GROUPED bytes. */
char *trod_put_grouped(char *p, uint64_t v);
/* Digits of V in decimal, in hexadecimal (at least 1). */
unsigned trod_digits(uint64_t v);
unsigned trod_hex_digits(uint64_t v);
/* V in decimal, right-aligned in WIDTH columns (more if it needs them). */
char *trod_put_right(char *p, uint64_t v, unsigned width);
/* V in lower-case hexadecimal with at least DIGITS (1 to 16) digits: up to 16 bytes. */
char *trod_put_hex(char *p, uint64_t v, unsigned digits);
/* N bytes at S in hexadecimal, the first first: 2 N bytes. */
char *trod_put_bytes(char *p, const uint8_t *s, size_t n);
/* The same, the last byte first. */
char *trod_put_bytes_reversed(char *p, const uint8_t *s, size_t n);
/* V as a fixed-point number with DECIMALS (0 to 15) digits after the point: TROD_PUT_TIME bytes. */
char *trod_put_fixed(char *p, uint64_t v, unsigned decimals);

/*
 * N bytes at S as the inside of a JSON string: up to 6 N bytes. Bytes that are no UTF-8 become
 * \u00XX.
 */
char *trod_put_json(char *p, const void *s, size_t n);
/* N bytes at S as a CSV field (RFC 4180), quoted where need be: up to 2 N + 2 bytes. */
char *trod_put_csv(char *p, const void *s, size_t n);
/*
 * N bytes at S for people: control bytes and what is no UTF-8 become \xHH, a tab one blank: up to
 * 4 N bytes. A terminal shows the result in as many columns as it has characters.
 */
char *trod_put_visible(char *p, const void *s, size_t n);

/* Length of the UTF-8 character at S (N bytes there), 0 if there is none or it is a control. */
size_t trod_utf8_len(const uint8_t *s, size_t n);

#ifdef __cplusplus
}
#endif

#endif
