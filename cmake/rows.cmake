# The rows of the operators and of the production kernels: sets rows, exact_rows, ordered_forms, exact_forms, and the
# regular expressions row, exact_row and form_row, whose groups are what CMakeLists.txt needs of each. The C
# preprocessor lists them from ${tables} and kernels/forms.h (rows.c). A row that is not understood is an error.
# For tests: cmake -DCMAKE_C_COMPILER=cc -Dtables=FILE -P cmake/rows.cmake, where FILE is .../tally/tables.h, prints
# them.
cmake_minimum_required(VERSION 3.21)
get_filename_component(include_folder ${tables} DIRECTORY)
get_filename_component(include_folder ${include_folder} DIRECTORY)
execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P -I${include_folder} -I${CMAKE_CURRENT_LIST_DIR}/../kernels
        ${CMAKE_CURRENT_LIST_DIR}/rows.c
    OUTPUT_VARIABLE text ERROR_VARIABLE reason RESULT_VARIABLE failed)
if(failed)
    message(FATAL_ERROR "The C preprocessor cannot list the rows of ${tables}:\n${reason}")
endif()
string(REGEX REPLACE "[ \n]+" " " text "${text}")
set(exact_row "exact \"[A-Z0-9_]+\" \"([a-z0-9]+)\"")
#                    id                  name             kernel            inputs      on
set(row "operator \"[A-Z0-9_]+\" \"[a-z0-9]+\" \"([a-z0-9]+)\" \"([12])\" \"([A-Z_ |()]+)\" ")
#                       order                         NaNs
string(APPEND row "\"(TALLY_ORDER_[A-Z_]+)\" \"(TALLY_NANS_[A-Z_]+)\"")
set(form_row "([a-z_]+)_form \"([a-z_]+)\" \"([a-z_]*)\" \"([a-z_]*)\" ")
string(APPEND form_row "\"(production/[a-z_]+.h)\" \"([A-Z_]*)\"")
string(REGEX MATCHALL "[a-z_]+ (\"[^\"]*\" ?)+\\." lines "${text}")
set(rows "")
set(exact_rows "")
set(ordered_forms "")
set(exact_forms "")
foreach(line IN LISTS lines)
    string(REGEX REPLACE " ?\\.$" "" line "${line}")
    if(line MATCHES "^${row}$")
        list(APPEND rows "${line}")
    elseif(line MATCHES "^${exact_row}$")
        list(APPEND exact_rows "${line}")
    elseif(line MATCHES "^${form_row}$")
        list(APPEND ${CMAKE_MATCH_1}_forms "${line}")
    else()
        message(FATAL_ERROR
            "A row of ${tables} or kernels/forms.h is not understood. Names have lower-case letters and digits, an "
            "operator has 1 or 2 inputs, its types are TALLY_ON_... or some TALLY_CLASS_... with | between them. "
            "The row is:\n${line}")
    endif()
endforeach()
if(CMAKE_SCRIPT_MODE_FILE)
    message("${rows};${exact_rows}")
endif()
