/*
 * trod.h - everything of the public API. See docs/design.md for how the parts fit.
 */
#ifndef TROD_H
#define TROD_H

#include "trod/analysis.h"
#include "trod/batch.h"
#include "trod/buf.h"
#include "trod/cache.h"
#include "trod/callstack.h"
#include "trod/check.h"
#include "trod/compare.h"
#include "trod/count.h"
#include "trod/detail.h"
#include "trod/diag.h"
#include "trod/disasm.h"
#include "trod/drmemtrace.h"
#include "trod/emit.h"
#include "trod/export.h"
#include "trod/flame.h"
#include "trod/format.h"
#include "trod/gen.h"
#include "trod/hide.h"
#include "trod/insn.h"
#include "trod/io.h"
#include "trod/loops.h"
#include "trod/loss.h"
#include "trod/match.h"
#include "trod/meta.h"
#include "trod/navigate.h"
#include "trod/option.h"
#include "trod/owners.h"
#include "trod/plot.h"
#include "trod/put.h"
#include "trod/reader.h"
#include "trod/record.h"
#include "trod/report.h"
#include "trod/run.h"
#include "trod/show.h"
#include "trod/site.h"
#include "trod/streak.h"
#include "trod/symbols.h"
#include "trod/sync.h"
#include "trod/syscalls.h"
#include "trod/trace.h"
#include "trod/types.h"
#include "trod/waves.h"
#include "trod/where.h"
#include "trod/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library: "0.1.0". */
const char *trod_version(void);

#ifdef __cplusplus
}
#endif

#endif
