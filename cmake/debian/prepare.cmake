# CPack runs this over the files of all packages before it packs them: it does what Debian's policy wants and what no other
# installation needs.

file(GLOB stages ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(stage ${stages})
  get_filename_component(component ${stage} NAME)
  string(TOUPPER ${component} component)
  set(package ${CPACK_DEBIAN_${component}_PACKAGE_NAME})
  if(NOT package)
    message(FATAL_ERROR "no package has the files in ${stage}")
  endif()
  set(doc ${stage}/usr/share/doc/${package})

  # The libraries are where the loader looks anyway.
  file(GLOB_RECURSE files ${stage}/*)
  foreach(file ${files})
    if(file MATCHES "/usr/bin/|\\.so" AND NOT IS_SYMLINK ${file})
      file(RPATH_REMOVE FILE ${file})
    endif()
  endforeach()

  file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${doc}
       FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of $SOURCE_DATE_EPOCH, if it is set
  file(WRITE ${doc}/changelog.Debian "bandana (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB pages ${stage}/usr/share/man/man1/*.1)
  execute_process(COMMAND gzip -9nf ${doc}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
