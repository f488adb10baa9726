#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <variant>

#include "bindings.h"

namespace bandana::python {
namespace {

// Ctrl-C ends a run within this time, and the time that the run needs to notice.
constexpr std::chrono::milliseconds kBetweenLooks(30);

void LookAround(const std::function<void()>& tick) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (tick) tick();
}

}  // namespace

void RunUntilDone(const std::function<void(const std::atomic<bool>& stop)>& work,
                  const std::function<void()>& tick) {
  std::atomic<bool> stop = false;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr failed;
  std::exception_ptr raised;
  {
    const py::gil_scoped_release release;
    std::thread worker([&] {
      try {
        work(stop);
      } catch (...) {
        failed = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      ended.notify_all();
    });
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kBetweenLooks, [&] { return done; })) {
      if (stop) continue;
      lock.unlock();
      {
        const py::gil_scoped_acquire acquire;
        try {
          LookAround(tick);
        } catch (...) {
          raised = std::current_exception();
          stop = true;
        }
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (raised) std::rethrow_exception(raised);
  if (failed) std::rethrow_exception(failed);
}

py::object ToPython(const Value& value) {
  return std::visit(
      [](const auto& v) -> py::object {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                      std::is_same_v<T, std::vector<double>>) {
          py::list list;
          for (const auto& each : v) list.append(each);
          return list;
        } else {
          return py::cast(v);
        }
      },
      value);
}

}  // namespace bandana::python
