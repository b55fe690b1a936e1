/*
 * places.h - functions that are wanted by name: the recorder finds them when code has been loaded.
 */
#ifndef TROD_RECORD_PLACES_H
#define TROD_RECORD_PLACES_H

#include <stdint.h>

/*
 * Code is about to be translated; the program's byte at ADDRESS is at HOST here. Returns when the
 * recorder has looked at what was loaded since the last time.
 */
void places_look(const void *host, uint64_t address);
/* The program calls NUMBER: an mmap has FD as its fifth argument. */
void places_called(int64_t number, uint64_t fd);
/* The call has returned: it may have loaded code. */
void places_loaded(int64_t number);

#endif
