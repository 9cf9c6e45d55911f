#include "godwit/expr/heap.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>

#include "godwit/base/units.h"

extern "C" int godwit_expr_timed_out(void* udata) {
  return static_cast<godwit::expr::Heap*>(udata)->timed_out() ? 1 : 0;
}

namespace godwit::expr {
namespace {

// No string or array needs a larger block; some native loops over strings take quadratic time without asking the clock.
constexpr std::size_t kLargestBlock = 256u << 10;

// Takes away what reaches outside, is not deterministic or defeats the limits, puts Math's functions at the top, and
// freezes all of it. Native loops over arrays do not ask the clock, so their length is limited: an array's length is a
// plain number, another object's might change between looks, so those functions take arrays only.
constexpr std::string_view kSetUp = R"((function (global) {
  'use strict';
  var most = 100000;
  var keep = ['NaN', 'Infinity', 'undefined', 'Object', 'Array', 'String', 'Boolean', 'Number', 'RegExp', 'Error',
              'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'Math', 'JSON',
              'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'decodeURI', 'decodeURIComponent', 'encodeURI',
              'encodeURIComponent'];
  var lift = ['min', 'max', 'abs', 'floor', 'ceil', 'round', 'trunc', 'sqrt', 'cbrt', 'exp', 'log', 'log2', 'log10',
              'pow', 'sign', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'hypot', 'PI', 'E'];
  var functionPrototype = Function.prototype;
  Object.getOwnPropertyNames(global).forEach(function (name) {
    if (keep.indexOf(name) < 0) delete global[name];
  });
  delete functionPrototype.constructor;
  delete Math.random;
  delete String.raw;
  lift.forEach(function (name) { global[name] = Math[name]; });

  function check(value) {
    if (Array.isArray(value) && value.length > most) throw new RangeError('an array has more than ' + most + ' elements');
  }
  var isArray = Array.isArray;
  Object.getOwnPropertyNames(Array.prototype).forEach(function (name) {
    var original = Array.prototype[name];
    if (typeof original !== 'function' || name === 'constructor') return;
    Object.defineProperty(Array.prototype, name, {value: function () {
      if (!isArray(this)) throw new TypeError(name + ' is for arrays');
      check(this);
      for (var i = 0; i < arguments.length; ++i) check(arguments[i]);
      return original.apply(this, arguments);
    }});
  });

  function freeze(value) {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function') || Object.isFrozen(value)) return;
    Object.freeze(value);
    freeze(Object.getPrototypeOf(value));
    Object.getOwnPropertyNames(value).forEach(function (name) {
      var property = Object.getOwnPropertyDescriptor(value, name);
      freeze(property.value);
      freeze(property.get);
      freeze(property.set);
    });
  }
  freeze(global);
}))";

void* allocate(void* udata, duk_size_t bytes) {
  return static_cast<Heap*>(udata)->allocate(nullptr, bytes);
}
void* reallocate(void* udata, void* block, duk_size_t bytes) {
  return static_cast<Heap*>(udata)->allocate(block, bytes);
}
void release(void* udata, void* block) {
  static_cast<Heap*>(udata)->release(block);
}

// Every call goes through run(), which catches errors, so this is a fault of Duktape or of this file.
void fatal(void*, const char* message) {
  std::fprintf(stderr, "godwit: the expression engine failed: %s\n", message == nullptr ? "unknown" : message);
  std::abort();
}

std::int64_t processor_time_ns() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

duk_ret_t set_up(duk_context* context, void*) {
  duk_eval_lstring(context, kSetUp.data(), kSetUp.size());
  duk_push_global_object(context);
  duk_call(context, 1);
  return 1;
}

// [error] → [text line]: the line as a number, which is 0 where the error has none.
duk_ret_t describe_error(duk_context* context, void*) {
  duk_push_int(context, 0);
  if (duk_is_error(context, 0)) {
    duk_pop(context);
    duk_get_prop_string(context, 0, "lineNumber");
  }
  duk_safe_to_string(context, 0);
  return 2;
}

}  // namespace

Heap::Heap(const Limits& limits) : limits_(limits) {
  context_ = duk_create_heap(expr::allocate, reallocate, expr::release, this, fatal);
  if (context_ == nullptr) throw std::bad_alloc();
  if (const std::unique_ptr<Failure> failure = run(set_up, nullptr)) {
    duk_destroy_heap(context_);
    throw Error("the expression engine does not start: " + failure->message);
  }
  duk_pop(context_);
  used_by_set_up_ = used_;
  limited_ = true;
}

Heap::~Heap() {
  duk_destroy_heap(context_);
}

std::unique_ptr<Heap::Failure> Heap::run(duk_safe_call_function body, void* data) {
  out_of_memory_ = out_of_time_ = false;
  if (limited_) deadline_ns_ = processor_time_ns() + std::chrono::nanoseconds(limits_.time).count();
  std::unique_ptr<Failure> failure;
  if (duk_safe_call(context_, body, data, 0, 1) != DUK_EXEC_SUCCESS)
    failure = std::make_unique<Failure>(failure_on_top());
  deadline_ns_ = 0;
  return failure;
}

Heap::Failure Heap::failure_on_top() {
  Failure failure{"unknown error"};
  if (duk_safe_call(context_, describe_error, nullptr, 1, 2) == DUK_EXEC_SUCCESS) {
    duk_size_t size = 0;
    const char* text = duk_get_lstring(context_, -2, &size);
    if (text != nullptr) failure.message.assign(text, size);
    failure.line = duk_get_int(context_, -1);
  }
  duk_pop_2(context_);
  const bool allocation =
      failure.message == "unknown error" || failure.message.find("alloc failed") != std::string::npos;
  if (out_of_time_) return {fmt::format("it takes more than {} ms of processor time", limits_.time.count())};
  if (out_of_memory_ && allocation)
    return {fmt::format("it needs more than {} of memory", format_bytes(limits_.memory_bytes))};
  // Our positions say where; the parser's line counts the wrapping too.
  if (const std::size_t line = failure.message.rfind(" (line "); line != std::string::npos)
    failure.message.resize(line);
  return failure;
}

unsigned Heap::keep() {
  duk_push_heap_stash(context_);
  duk_insert(context_, -2);
  duk_put_prop_index(context_, -2, kept_);
  duk_pop(context_);
  return kept_++;
}

void Heap::push_kept(unsigned index) {
  duk_push_heap_stash(context_);
  duk_get_prop_index(context_, -1, index);
  duk_remove(context_, -2);
}

bool Heap::timed_out() {
  if (deadline_ns_ == 0 || processor_time_ns() < deadline_ns_) return false;
  return out_of_time_ = true;
}

void* Heap::allocate(void* old, std::size_t bytes) {
  if (bytes == 0) {
    release(old);
    return nullptr;
  }
  Header* const header = old == nullptr ? nullptr : static_cast<Header*>(old) - 1;
  const std::size_t before = header == nullptr ? 0 : header->bytes;
  const std::size_t most = limits_.memory_bytes + used_by_set_up_;
  if (limited_ && (bytes > kLargestBlock || used_ - before + bytes > most)) {
    out_of_memory_ = true;
    return nullptr;
  }
  auto* const block = static_cast<Header*>(std::realloc(header, sizeof(Header) + bytes));
  if (block == nullptr) return nullptr;
  used_ = used_ - before + bytes;
  block->bytes = bytes;
  return block + 1;
}

void Heap::release(void* block) {
  if (block == nullptr) return;
  Header* const header = static_cast<Header*>(block) - 1;
  used_ -= header->bytes;
  std::free(header);
}

}  // namespace godwit::expr
