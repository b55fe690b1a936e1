/*
 * like_put.h - the lines of a group of Arm's tools. See like.h.
 */
#ifndef WAVES_LIKE_PUT_H
#define WAVES_LIKE_PUT_H

#include "waves/like.h"

/* What the group at hand changes. Returns 0 or TROD_ERR_NOMEM. */
int like_put_group(struct like *k);
int like_put_end(struct like *k);
/* N bytes at S as these tools write disassembly; OUT has room for LIKE_TEXT bytes. */
void like_text(char *out, const char *s, size_t n);

#endif
