#include "godwit/jobs/work_pool.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include "godwit/base/error.h"

namespace godwit::jobs {

WorkPool::WorkPool(unsigned threads) : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.is_open()) throw SystemError("eventfd", errno);
  // Signals are the owner's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WorkPool::~WorkPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    work_.clear();
  }
  there_is_work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkPool::add(Work work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  there_is_work_.notify_one();
}

bool WorkPool::collect() {
  std::uint64_t count = 0;
  if (::read(wake_.get(), &count, sizeof count) < 0) return false;
  std::vector<Done> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const Done& call : done) call();
  return !done.empty();
}

void WorkPool::serve() {
  for (;;) {
    Work work;
    {
      std::unique_lock lock(mutex_);
      there_is_work_.wait(lock, [this] { return ending_ || !work_.empty(); });
      if (work_.empty()) return;
      work = std::move(work_.front());
      work_.pop_front();
    }
    Done done = work();
    {
      const std::lock_guard lock(mutex_);
      done_.push_back(std::move(done));
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);  // fails only when full: awake
  }
}

}  // namespace godwit::jobs
