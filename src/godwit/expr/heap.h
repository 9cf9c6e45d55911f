// A Duktape heap with limits: what it may hold, and how long one evaluation may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "duktape.h"
#include "godwit/expr/engine.h"

namespace godwit::expr {

class Heap {
 public:
  explicit Heap(const Limits& limits);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  const Limits& limits() const { return limits_; }
  duk_context* context() { return context_; }

  // Why a call into the heap failed.
  struct Failure {
    std::string message;
    int line = 0;  // of the compiled text, from 1; 0 where it is not known
  };
  // Calls `body(context, data)`, which leaves one value on the stack, under the limits; an error inside comes back as
  // a Failure and leaves nothing. `body` may be left by longjmp: nothing in it may need a destructor.
  std::unique_ptr<Failure> run(duk_safe_call_function body, void* data);

  // The number under which the value on top of the stack, which is popped, is kept for the heap's life.
  unsigned keep();
  void push_kept(unsigned index);

  bool timed_out();
  void* allocate(void* old, std::size_t bytes);
  void release(void* block);

 private:
  // An allocation knows its size, to give it back to the account.
  struct alignas(std::max_align_t) Header {
    std::size_t bytes;
  };

  Failure failure_on_top();

  Limits limits_;
  duk_context* context_ = nullptr;
  std::size_t used_ = 0;
  std::size_t used_by_set_up_ = 0;  // does not count; what there is before the limits hold has none
  bool limited_ = false;
  bool out_of_memory_ = false;
  bool out_of_time_ = false;
  std::int64_t deadline_ns_ = 0;  // of the thread's processor time; 0: none
  unsigned kept_ = 0;
};

}  // namespace godwit::expr
