# 32-bit x86: little-endian, 64-bit numbers aligned to 4.
set(CMAKE_SYSTEM_PROCESSOR i686)
set(TROD_TRIPLET i686-linux-gnu)
set(TROD_MULTIARCH i386-linux-gnu)
set(TROD_QEMU qemu-i386)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
