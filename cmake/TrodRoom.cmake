# A room is a folder below src/: an OBJECT library trod_<name> that sees include/, its own headers
# and those of the rooms it may use, as "<room>/<header>.h". The include directories hold one link
# each, so a forbidden #include does not compile (docs/design.md, rule 10).
function(trod_room name)
  cmake_parse_arguments(ROOM "" "" "USES;SOURCES;LIBS" ${ARGN})
  set(links ${CMAKE_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${links})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${name} ${links}/${name} SYMBOLIC)
  if(NOT ROOM_SOURCES) # headers only
    return()
  endif()
  add_library(trod_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(trod_${name} PRIVATE ${CMAKE_SOURCE_DIR}/include ${links}
    ${CMAKE_BINARY_DIR}/config)
  foreach(other ${ROOM_USES})
    target_include_directories(trod_${name} PRIVATE ${CMAKE_BINARY_DIR}/rooms/${other})
  endforeach()
  target_link_libraries(trod_${name} PRIVATE trod_flags ${ROOM_LIBS})
endfunction()

# trod_test(NAME SOURCES ... [ROOMS ...] [LIBS ...] [ARGS ...] [LABELS ...]): a test program linked
# against the whole library; it sees the private headers of the rooms it names.
function(trod_test name)
  cmake_parse_arguments(T "" "" "SOURCES;ROOMS;LIBS;ARGS;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/include
    ${CMAKE_SOURCE_DIR}/tests/common ${CMAKE_BINARY_DIR}/config)
  foreach(other ${T_ROOMS})
    target_include_directories(${name} PRIVATE ${CMAKE_BINARY_DIR}/rooms/${other})
  endforeach()
  target_link_libraries(${name} PRIVATE trod_flags trod_static ${T_LIBS})
  add_test(NAME ${name} COMMAND ${name} ${T_ARGS})
  trod_seconds(seconds 600)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${TROD_TEST_ENVIRONMENT}"
    LABELS "${T_LABELS}" SKIP_RETURN_CODE 77 TIMEOUT ${seconds})
  if("unit" IN_LIST T_LABELS) # what scripts/cross builds
    if(NOT TARGET units)
      add_custom_target(units)
    endif()
    add_dependencies(units ${name})
  endif()
  if("threads" IN_LIST T_LABELS) # what is built for ThreadSanitizer
    if(NOT TARGET threaded)
      add_custom_target(threaded)
    endif()
    add_dependencies(threaded ${name})
  endif()
endfunction()
