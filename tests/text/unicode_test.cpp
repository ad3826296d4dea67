// The Unicode version whose classes cut a text: kept by a file, compared when it is used.
#include <gtest/gtest.h>

#include "support/data.h"
#include "text/splitter.h"
#include "text/tokenizer.h"

namespace nyb::test {
namespace {

TEST(Unicode, AFileKeepsItsVersion) {
  Meta meta;
  tok_import_hf(pocket_dir().string(), 2048, meta);
  EXPECT_EQ(meta.get<std::string>(key::tok_unicode), splitter_unicode());
  EXPECT_EQ(splitter_unicode().find_first_not_of("0123456789."), std::string::npos) << splitter_unicode();
  EXPECT_EQ(Tokenizer::from_meta(meta)->unicode_note(), "");

  meta.set(key::tok_unicode, std::string("6.3.0"));
  const std::string note = Tokenizer::from_meta(meta)->unicode_note();
  EXPECT_NE(note.find("6.3.0"), std::string::npos) << note;
  EXPECT_NE(note.find(splitter_unicode()), std::string::npos) << note;
}

TEST(Unicode, AFileWithoutOneIsTaken) {
  Meta meta, old;
  tok_import_hf(pocket_dir().string(), 2048, meta);
  for (const auto& [k, entry] : meta.entries())
    if (k != key::tok_unicode) old.set(k, entry.value, entry.required);
  EXPECT_EQ(Tokenizer::from_meta(old)->unicode_note(), "");
}

}  // namespace
}  // namespace nyb::test
