# The libraries of the agent and its tests for a system that is not this one:
# headers of this host, of which only single folders are lent, since /usr/include
# as a whole would bring this host's C library along.

set(lent ${CMAKE_BINARY_DIR}/headers)

# wiretoll_lend(PACKAGE FOLDER): FOLDER of this host's include folder, alone.
function(wiretoll_lend package folder)
  find_path(WIRETOLL_${folder}_PARENT ${folder}
            PATHS /usr/local/include /usr/include
            NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  if(NOT WIRETOLL_${folder}_PARENT)
    message(FATAL_ERROR "the headers of ${folder} are not here: "
            "apt-get install ${package}, or set WIRETOLL_${folder}_PARENT to "
            "the folder that holds ${folder}/")
  endif()
  file(MAKE_DIRECTORY ${lent}/${folder})
  file(CREATE_LINK ${WIRETOLL_${folder}_PARENT}/${folder}
       ${lent}/${folder}/${folder} SYMBOLIC)
endfunction()

# wiretoll_headers(TARGET FOLDER): an imported target of headers alone.
function(wiretoll_headers target folder)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${lent}/${folder})
endfunction()

wiretoll_lend(libboost-dev boost)
wiretoll_lend(nlohmann-json3-dev nlohmann)
wiretoll_lend(libfmt-dev fmt)
wiretoll_headers(Boost::headers boost)
wiretoll_headers(nlohmann_json::nlohmann_json nlohmann)
wiretoll_headers(fmt::fmt-header-only fmt)
target_compile_definitions(fmt::fmt-header-only INTERFACE FMT_HEADER_ONLY=1)
