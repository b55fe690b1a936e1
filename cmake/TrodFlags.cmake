# Compiler flags of a strict C11 project, carried by the interface target trod_flags. What runs inside
# another program (the QEMU plugin) takes trod_warnings: the same without sanitizers and coverage.
add_library(trod_warnings INTERFACE)
add_library(trod_flags INTERFACE)
target_link_libraries(trod_flags INTERFACE trod_warnings)
target_compile_definitions(trod_warnings INTERFACE _POSIX_C_SOURCE=200809L _FILE_OFFSET_BITS=64)
target_compile_options(trod_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
  -Wcast-qual -Wwrite-strings -Wundef -Wpointer-arith -Wformat=2 -Wvla
  -Wno-format-nonliteral -fno-strict-overflow -fno-common
  -fno-semantic-interposition)
if(TROD_WERROR)
  target_compile_options(trod_warnings INTERFACE -Werror)
endif()
if(TROD_SANITIZE)
  target_compile_options(trod_flags INTERFACE -fsanitize=${TROD_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(trod_flags INTERFACE -fsanitize=${TROD_SANITIZE})
endif()
if(TROD_FUZZ)
  target_compile_options(trod_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TROD_COVERAGE)
  target_compile_options(trod_flags INTERFACE --coverage)
  target_link_options(trod_flags INTERFACE --coverage)
endif()
