// A few threads for work that blocks, whose results come back to the owner's thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "godwit/store/file_descriptor.h"

namespace godwit::jobs {

class WorkPool {
 public:
  // Runs on the owner's thread, in collect().
  using Done = std::function<void()>;
  // Runs on some thread of the pool; must not throw.
  using Work = std::function<Done()>;

  explicit WorkPool(unsigned threads);
  // Finishes what was begun; what was not begun is dropped.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  void add(Work work);
  // Calls what the finished work gave; true where there was any.
  bool collect();
  // Readable when collect() has something.
  int fd() const { return wake_.get(); }

 private:
  void serve();

  store::FileDescriptor wake_;
  std::mutex mutex_;
  std::condition_variable there_is_work_;
  std::deque<Work> work_;
  std::vector<Done> done_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace godwit::jobs
