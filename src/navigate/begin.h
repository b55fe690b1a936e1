/*
 * begin.h - where others begin to read a trace, as an index says (begin.c, given.c).
 */
#ifndef NAVIGATE_BEGIN_H
#define NAVIGATE_BEGIN_H

#include <pthread.h>

#include "callstack/given.h"
#include "navigate/index.h"
#include "trace/mark.h"

struct nav_begin {
    struct trod_begin at;
    struct trod_given_calls calls;
    pthread_mutex_t lock; /* who asks while others read */
    struct trod_point *point;
    struct trod_buf state;
};

#endif
