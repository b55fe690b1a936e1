# 32-bit Arm: little-endian, 64-bit numbers aligned to 8.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(TROD_TRIPLET arm-linux-gnueabihf)
set(TROD_MULTIARCH arm-linux-gnueabihf)
set(TROD_QEMU qemu-arm)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
