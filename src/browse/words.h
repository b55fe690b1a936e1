/*
 * words.h - words that what the user types may go on with.
 */
#ifndef BROWSE_WORDS_H
#define BROWSE_WORDS_H

#include "browse/places.h"

enum browse_words {
    BROWSE_PLACES = 1 << 0,    /* "line:", "kind:WRITE" */
    BROWSE_REGISTERS = 1 << 1, /* of the state at the cursor */
    BROWSE_SYMBOLS = 1 << 2,
    BROWSE_WHERE = 1 << 3 /* of expressions: names, kinds */
};

/*
 * Make the word of TEXT (room for SIZE bytes) that ends at byte *AT as long as all words of SETS
 * agree that begin so; *AT is its new end. Letters of registers and kinds may be of either case.
 * The words, if there are several, are in OUT (browse_lines_fini); *FROM is where they begin.
 * Returns how many there are, or TROD_ERR_NOMEM.
 */
long browse_complete(struct browse *b, unsigned sets, char *text, size_t size, size_t *at,
                     size_t *from, struct browse_lines *out);
/* Put WORD in the place of the bytes from FROM up to *AT; *AT is its end. What has no room is cut.
 */
void browse_put_word(char *text, size_t size, size_t from, size_t *at, const char *word);

#endif
