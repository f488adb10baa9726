# Debian packages, which script/package makes by CPack. There are four, as Debian splits every library: who runs the program
# needs no compiler and no Python, and who deploys the library needs no program.
#   bandana          the program, its manual pages and completions, documents and experiments
#   libbandana0.2    the library; the name has the soname, so that two versions can be installed together
#   libbandana-dev   headers, CMake and pkg-config files, examples
#   python3-bandana  import bandana
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME bandana)
set(CPACK_PACKAGE_VENDOR "Bandana")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(BANDANA_MAINTAINER "The Bandana Authors <bandana@localhost>" CACHE STRING "The maintainer that the Debian packages name")
set(CPACK_PACKAGE_CONTACT ${BANDANA_MAINTAINER})
set(CPACK_COMPONENTS_ALL library development)
if(TARGET bandana)
  list(APPEND CPACK_COMPONENTS_ALL program)
endif()
if(TARGET _bandana)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian/prepare.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(this_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

# bandana_package(COMPONENT NAME SECTION SUMMARY LINE...): the first lines of the description are the same for all. Debian wants
# lines of less than 80 columns.
macro(bandana_package component name section summary)
  string(TOUPPER ${component} upper)
  string(JOIN "\n" text ${ARGN})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION
"${summary}
Bandana learns the best action from the feedback of many people. Its noise
bounds how much one client's feedback can change what others see.

${text}")
endmacro()

bandana_package(program bandana science "bandits with differential privacy"
                "This package has the program: experiments, figures of papers, calibration,"
                "audits, and the roles of a deployment."
                "It needs a processor of the kind ${BANDANA_MARCH}.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "libbandana${soversion} ${this_version}")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "bash-completion, libbandana-dev, python3-bandana")

bandana_package(library libbandana${soversion} libs "bandits with differential privacy (library)"
                "This package has the shared library."
                "It needs a processor of the kind ${BANDANA_MARCH}.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/debian/triggers)

# The names of the packages in which Debian has what the installed headers include.
bandana_package(development libbandana-dev libdevel "bandits with differential privacy (for C++ programs)"
                "This package has headers, examples, and files for CMake and pkg-config.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libbandana${soversion} ${this_version}, libabsl-dev, libeigen3-dev (>= 3.4), libfmt-dev (>= 9)")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "g++ (>= 4:12), cmake (>= 3.25) | pkgconf | pkg-config")

# An extension fits one minor version of Python, as Debian's own extensions say it.
if(TARGET _bandana)
  execute_process(COMMAND ${BANDANA_PYTHON3} -c "import sys; print('python3 (>= 3.%d~), python3 (<< 3.%d)' % (sys.version_info[1], sys.version_info[1] + 1))"
                  OUTPUT_VARIABLE python OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  bandana_package(python python3-bandana python "bandits with differential privacy (for Python)"
                  "This package has the Python package bandana: experiments as data frames and"
                  "figures, and policies for programs of your own.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "libbandana${soversion} ${this_version}, ${python}, python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-matplotlib, python3-pandas, python3-tqdm")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
      "${CMAKE_CURRENT_LIST_DIR}/debian/postinst;${CMAKE_CURRENT_LIST_DIR}/debian/prerm")
endif()
include(CPack)
