// rule2.h - rule 2 of docs/numerics.md written out as one expression: sixteen strided partial sums, then the fixed tree.
#pragma once
#include <cstddef>

namespace nyb::test {

// the tree over sixteen partial results
inline float rule2_tree(const float (&p)[16]) {
  return (((p[0] + p[8]) + (p[4] + p[12])) + ((p[2] + p[10]) + (p[6] + p[14]))) +
         (((p[1] + p[9]) + (p[5] + p[13])) + ((p[3] + p[11]) + (p[7] + p[15])));
}

}  // namespace nyb::test
