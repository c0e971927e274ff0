# The rows of the operators and of the production kernels: sets rows and exact_rows, and the regular expressions row and
# exact_row, whose groups are what CMakeLists.txt needs of each; of the units of forms (ORDERED_SEGMENTS, ...) units,
# text_of_UNIT, define_of_UNIT, entries_of_UNIT (names of its kernels), and calls_of_FORM. The C preprocessor lists them
# from ${tables} and kernels/forms.h (rows.c). A row that is not understood is an error.
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
set(exact_row "exact \"[A-Z0-9_]+\" \"([a-z0-9]+)\" \"TALLY_LAST_[A-Z]+\"")
#                    id                  name             kernel            inputs      on
set(row "operator \"[A-Z0-9_]+\" \"[a-z0-9]+\" \"([a-z0-9]+)\" \"([12])\" \"([A-Z_ |()]+)\" ")
#                       order                         NaNs
string(APPEND row "\"(TALLY_ORDER_[A-Z_]+)\" \"(TALLY_NANS_[A-Z_]+)\"")
set(form_row "form \"([A-Z_]+)\" \"([A-Z]+)\"")
set(unit_row "unit \"([A-Z]+)\" \"([A-Z_]+)\" \"(production/[a-z_/]+.h)\" \"([A-Z_]*)\"")
set(entry_row "entry \"([A-Z]+)\" \"([A-Z_]+)\" \"([a-z0-9_]+)\"")
string(REGEX MATCHALL "[a-z_]+ (\"[^\"]*\" ?)+\\." lines "${text}")
set(rows "")
set(exact_rows "")
set(units "")
foreach(line IN LISTS lines)
    string(REGEX REPLACE " ?\\.$" "" line "${line}")
    if(line MATCHES "^${row}$")
        list(APPEND rows "${line}")
    elseif(line MATCHES "^${exact_row}$")
        list(APPEND exact_rows "${line}")
    elseif(line MATCHES "^${form_row}$")
        set(calls_of_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    elseif(line MATCHES "^${unit_row}$")
        set(unit ${CMAKE_MATCH_1}_${CMAKE_MATCH_2})
        list(APPEND units ${unit})
        set(text_of_${unit} ${CMAKE_MATCH_3})
        set(define_of_${unit} ${CMAKE_MATCH_4})
        set(entries_of_${unit} "")
    elseif(line MATCHES "^${entry_row}$")
        list(APPEND entries_of_${CMAKE_MATCH_1}_${CMAKE_MATCH_2} ${CMAKE_MATCH_3})
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
