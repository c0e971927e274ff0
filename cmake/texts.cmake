# cmake -DROOT=folder -DOUT=file.c -DTEXTS=*.h,a/*.h -DPREFIX=tally__ [-DEDITION=file.c -DVERSION=1.2.3] -P
# texts.cmake: texts of a folder as a C file, for NVRTC. As bytes: C promises no string
# literals of such lengths. EDITION tells them from those of other builds and versions.
cmake_minimum_required(VERSION 3.21)
string(REPLACE "," ";" TEXTS "${TEXTS}")
set(names "")
foreach(pattern IN LISTS TEXTS)
    file(GLOB some RELATIVE ${ROOT} ${ROOT}/${pattern})
    list(APPEND names ${some})
endforeach()
list(SORT names)
set(arrays "")
set(rows "")
set(number 0)
foreach(name IN LISTS names)
    file(READ ${ROOT}/${name} bytes HEX)
    string(LENGTH "${bytes}" size)
    math(EXPR size "${size} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "((0x..,)(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?)" "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const unsigned char text_${number}[] = { /* ${name} */\n${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", (const char *)text_${number}, ${size}},\n")
    math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT} "/* Made by cmake/texts.cmake. */
#include \"cuda/texts.h\"

${arrays}
extern const tally__text ${PREFIX}texts[];
extern const int ${PREFIX}text_count;
const tally__text ${PREFIX}texts[] = {
${rows}};
const int ${PREFIX}text_count = ${number};
")
if(EDITION)
    string(SHA256 hash "${arrays}")
    file(WRITE ${EDITION} "/* Made by cmake/texts.cmake: the version and a hash of kernels/. */
extern const char ${PREFIX}edition[];
const char ${PREFIX}edition[] = \"${VERSION} ${hash}\";
")
endif()
