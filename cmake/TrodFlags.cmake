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
  # What sanitizers add is full of addresses: a program at a fixed place starts with 4,000 page faults less, as
  # the loader writes none of them. And more than 200 programs are linked: by the linker that is quicker at it.
  target_link_options(trod_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  if(TROD_SANITIZE MATCHES "address" AND NOT TROD_FUZZ AND NOT CMAKE_CROSSCOMPILING)
    include(CheckLinkerFlag)
    check_linker_flag(C -fuse-ld=gold TROD_HAVE_GOLD)
    if(TROD_HAVE_GOLD)
      target_link_options(trod_flags INTERFACE -fuse-ld=gold)
    endif()
  endif()
endif()
if(TROD_FUZZ)
  target_compile_options(trod_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TROD_COVERAGE)
  target_compile_options(trod_flags INTERFACE --coverage)
  target_link_options(trod_flags INTERFACE --coverage)
endif()
