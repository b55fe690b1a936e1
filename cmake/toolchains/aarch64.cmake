# AArch64: 64 bits, little-endian.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(TROD_TRIPLET aarch64-linux-gnu)
set(TROD_MULTIARCH aarch64-linux-gnu)
set(TROD_QEMU qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
