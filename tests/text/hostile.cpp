#include "hostile.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <time.h>

#include "text_support.h"

namespace nyb::test {

double spent() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void expect_fast(const Tokenizer& tok, const std::string& text, size_t most_ids, const char* what, const std::string* back) {
  const double start = spent();
  const Ids ids = tok.encode(text);
  const double seconds = spent() - start;
  EXPECT_LT(seconds, kMostSeconds) << what;
  EXPECT_LE(ids.size(), most_ids) << what;
  EXPECT_TRUE(tok.decode(ids) == (back ? *back : text)) << what;
}

void on_small_stack(const std::function<void()>& body, size_t bytes) {
  pthread_attr_t attr;
  ASSERT_EQ(pthread_attr_init(&attr), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attr, bytes), 0);
  pthread_t thread{};
  const auto run = [](void* f) -> void* {
    (*static_cast<const std::function<void()>*>(f))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attr, run, const_cast<std::function<void()>*>(&body)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attr);
}

}  // namespace nyb::test
