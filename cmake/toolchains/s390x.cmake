# IBM Z: 64 bits, big-endian.
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(TROD_TRIPLET s390x-linux-gnu)
set(TROD_MULTIARCH s390x-linux-gnu)
set(TROD_QEMU qemu-s390x)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
