#include "bandana/lab/report.h"

#include "absl/strings/str_replace.h"
#include "bandana/core/check.h"
#include "bandana/lab/embedded.h"
#include "fmt/format.h"

namespace bandana::lab {
namespace {

std::string_view Embedded(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.name == name) return file.content;
  }
  BANDANA_CHECK(false);
  return {};
}

}  // namespace

std::string RenderReport(const Json& data) {
  const std::string name = absl::StrReplaceAll(data["summary"]["name"].get<std::string>(),
                                               {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
  // "<" is escaped so that no text of a user can end the script element.
  const std::string json =
      absl::StrReplaceAll(data.dump(-1, ' ', false, Json::error_handler_t::replace), {{"<", "\\u003c"}});
  return fmt::format(
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>{} - Bandana</title>"
      "<style>{}</style></head><body><div id=\"app\"></div>"
      "<script type=\"application/json\" id=\"bandana-data\">{}</script><script>{}</script></body></html>\n",
      name, Embedded("report.css"), json, Embedded("report.js"));
}

}  // namespace bandana::lab
