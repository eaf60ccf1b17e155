#include "joining_thread.hpp"

#include <cstdlib>
#include <exception>

namespace treeform {

bool prepare_thread() noexcept {
    constexpr std::size_t kEnough = 1 << 14;  // for what is asked for below
    void* const room = std::malloc(kEnough);
    if (!room) return false;
    std::free(room);
    static thread_local volatile int touched;  // volatile, so that neither of the two is left out
    touched = std::uncaught_exceptions();
    return true;
}

}  // namespace treeform
