# cmake -DNAME= -DINPUT= -DOUTPUT= -P embed.cmake: a text file as a C++ string.
file(READ "${INPUT}" content)
string(FIND "${content}" ")embedded\"" delimiter)
string(FIND "${content}" "</script" script_end)
if(NOT delimiter EQUAL -1 OR NOT script_end EQUAL -1)
  message(FATAL_ERROR "${INPUT} holds text that would end its string or its script element early")
endif()
file(WRITE "${OUTPUT}" "#include \"reports/page/assets.h\"

namespace doetune::reports::assets {

const std::string_view ${NAME} = R\"embedded(${content})embedded\";

}  // namespace doetune::reports::assets
")
