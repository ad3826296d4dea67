// meta.h - the typed key-value part of a model file.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nyb {

using MetaValue = std::variant<uint64_t, double, std::string, std::vector<uint32_t>, std::vector<double>, std::vector<std::string>>;

// Keys are lower case with dots. Values that a reader must understand to run the model are marked `required` in the
// file; a reader that does not know such a key refuses the file.
class Meta {
 public:
  void set(std::string key, MetaValue value, bool required = false);
  bool has(std::string_view key) const;

  // The value of that type. Throws Error naming the key when it is absent or of another type.
  template <class T>
  const T& get(std::string_view key) const;
  // nullptr when absent; throws Error when it is of another type.
  template <class T>
  const T* find(std::string_view key) const;

  struct Entry {
    MetaValue value;
    bool required = false;
  };
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

// The keys that this version knows (a required key outside this list refuses the file).
// NOLINTBEGIN(readability-identifier-naming)
namespace key {
inline constexpr char family[] = "family";            // str: a row of family.h, "llama"
inline constexpr char name[] = "name";                // str: what to call the model
inline constexpr char norm_eps[] = "norm.eps";        // f64
inline constexpr char act[] = "act";                  // str: "silu"
inline constexpr char attn_scale[] = "attn.scale";    // f64, rounded to f32 where used
inline constexpr char qkv_bias[] = "attn.qkv_bias";   // u64: 1: the products q, k and v have a bias
inline constexpr char o_bias[] = "attn.o_bias";       // u64: 1: so has attention's output
inline constexpr char qk_norm[] = "attn.qk_norm";     // u64: 1: RMSNorm over each head of q and k, before RoPE
inline constexpr char windows[] = "attn.windows";     // u32s, one a layer: positions that it sees, 0: all; absent: all
inline constexpr char rope_none[] = "rope.none";      // u32s: layers without RoPE, ascending
inline constexpr char rope_style[] = "rope.style";    // str: "half" (pairs i, i + rot/2)
inline constexpr char rope_freqs[] = "rope.freqs";    // f64s: rot/2 frequencies
inline constexpr char rope_factor[] = "rope.factor";  // f64, rounded to f32; on cosine and sine
inline constexpr char tok_kind[] = "tok.kind";        // str: "bpe", "bpe-words" (tokens whole), "spm"; absent: no tokenizer
inline constexpr char tok_tokens[] = "tok.tokens";    // strs: the bytes of each id (a special's are its name)
inline constexpr char tok_merges[] = "tok.merges";    // u32s: triples left, right, result, best first
inline constexpr char tok_pattern[] = "tok.pattern";  // str: the pre-tokenizer, a PCRE2 pattern
inline constexpr char tok_scores[] = "tok.scores";    // f64s, one an id: of two merges the higher score comes first
inline constexpr char tok_types[] =
    "tok.types";  // u32s, one an id: 1 normal, 2 unknown, 3 control, 4 taken whole, 5 unused, 6 byte
inline constexpr char tok_patterns[] = "tok.patterns";            // strs: or several, each of which cuts what the one before left
inline constexpr char tok_normal[] = "tok.normal";                // str: the form that a text is put into first, "nfc"
inline constexpr char tok_add_prefix[] = "tok.add_prefix";        // u64: where a blank comes before a text (0 to 3)
inline constexpr char tok_byte_fallback[] = "tok.byte_fallback";  // u64: 1: what no token spells becomes its bytes
inline constexpr char tok_unknown[] = "tok.unknown";              // u64: or else this id
inline constexpr char tok_each_unknown[] = "tok.each_unknown";    // u64: 1: for each character, not once for some that adjoin
inline constexpr char tok_named[] = "tok.named";                  // u32s: no specials, but only a template may name them
inline constexpr char tok_whole[] = "tok.whole";                  // u32s: taken from a text before it is cut
inline constexpr char tok_strips_before[] = "tok.strips_before";  // u32s: named in a template they take the white space before them
inline constexpr char tok_strips_after[] = "tok.strips_after";    // u32s: or after them
inline constexpr char tok_unicode[] = "tok.unicode";    // str: the Unicode version whose classes the conversion saw in the pattern
inline constexpr char tok_specials[] = "tok.specials";  // u32s: ids that text never becomes
inline constexpr char tok_bos[] = "tok.bos";            // u64; absent: the model has none
inline constexpr char tok_add_bos[] = "tok.add_bos";    // u64: 0 or 1
inline constexpr char tok_ends[] = "tok.ends";          // u32s: ids that end a reply
inline constexpr char tok_eos[] = "tok.eos";            // u64: the source's eos_token; absent: the only id of tok.ends
inline constexpr char chat_template[] = "chat.template";  // str: the source's own Jinja text; absent: completion mode
inline constexpr char source_file[] = "source.file";      // str: what it was converted from (a file name, no path)
inline constexpr char source_hash[] = "source.hash";      // u64: XXH3-64 over the source's tensor data
}  // namespace key
// NOLINTEND(readability-identifier-naming)

}  // namespace nyb
