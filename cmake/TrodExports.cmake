# What libtrod.so exports: the functions and constants ("extern const struct ...") that the public
# headers declare, and nothing else. The list is made from include/trod/*.h, so there is no second one to keep.
function(trod_exported out)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/trod/*.h)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  set(names)
  foreach(header ${headers})
    file(READ ${header} text)
    string(REGEX MATCHALL "trod_[a-z0-9_]+\\(" found "${text}")
    list(APPEND names ${found})
    string(REGEX MATCHALL "extern const struct [a-z0-9_]+ trod_[a-z0-9_]+" found "${text}")
    list(TRANSFORM found REPLACE "extern const struct [a-z0-9_]+ " "")
    list(APPEND names ${found})
  endforeach()
  string(REPLACE "(" "" names "${names}")
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  list(JOIN names ";\n    " lines)
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

function(trod_exports target)
  trod_exported(lines)
  set(map ${CMAKE_BINARY_DIR}/config/libtrod.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "TROD_${TROD_SOVERSION} {\n  global:\n    @lines@;\n  local:\n    *;\n};\n" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic-functions)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
endfunction()

# libtrod.a: one relocatable object of all OBJECTS, in which only what libtrod.so exports is global: a
# program that links it may call its own functions as it likes.
function(trod_archive)
  trod_exported(lines)
  set(list ${CMAKE_BINARY_DIR}/config/libtrod.globals)
  string(REGEX REPLACE ";[ \n]*" "\n" lines "${lines}")
  file(CONFIGURE OUTPUT ${list} CONTENT "@lines@\n" @ONLY)
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/libtrod.o)
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/libtrod.a)
  add_custom_command(OUTPUT ${archive}
    COMMAND ${CMAKE_LINKER} -r -o ${whole} ${ARGN}
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${list} ${whole}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${CMAKE_AR} rcs ${archive} ${whole}
    DEPENDS ${ARGN} ${list} COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(trod_archive ALL DEPENDS ${archive})
endfunction()

# The command, which holds the same library, shows the same names to the plug-ins that it loads.
function(trod_exports_of target)
  trod_exported(lines)
  set(list ${CMAKE_BINARY_DIR}/config/trod.names)
  file(CONFIGURE OUTPUT ${list} CONTENT "{\n    @lines@;\n};\n" @ONLY)
  target_link_options(${target} PRIVATE -Wl,--dynamic-list=${list})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${list})
endfunction()
