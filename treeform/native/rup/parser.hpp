#pragma once
// Steps of a proof from text ("d 1 -2 0", one after the other, comments on lines that begin with c) or from the binary
// format ('a' or 'd', literals 2v or 2v + 1 in groups of 7 bits, a zero byte).
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "checker.hpp"

namespace treeform::rup {

struct Malformed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Parser {
public:
    /// A step with more than `longest` literals is refused, so that no proof can fill the memory with one.
    Parser(const Read& read, bool binary, std::size_t longest) : read_(read), binary_(binary), longest_(longest) {}

    /// The next step: false at the end of the proof.
    bool next(std::vector<std::int32_t>& literals, bool& deletion) {
        literals.clear();
        deletion = false;
        const bool found = binary_ ? next_binary(literals, deletion) : next_text(literals, deletion);
        steps_ += found;
        return found;
    }
    std::uint64_t steps() const { return steps_; }

private:
    static constexpr int kEnd = -1;

    int get() {
        if (at_ == buffer_.size()) {
            at_ = 0;
            if (done_ || read_(buffer_) == 0) {
                done_ = true;
                buffer_.clear();
                return kEnd;
            }
        }
        return static_cast<unsigned char>(buffer_[at_++]);
    }
    void push(std::vector<std::int32_t>& literals, std::int32_t literal) const {
        if (literals.size() == longest_) fail("there are more literals than the formula has");
        literals.push_back(literal);
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw Malformed(what + " in step " + std::to_string(steps_ + 1));
    }

    bool next_text(std::vector<std::int32_t>& literals, bool& deletion) {
        for (bool begun = false;;) {
            int c = get();
            while (c == ' ' || c == '\n' || c == '\r' || c == '\t') c = get();
            if (c == kEnd) {
                if (begun) fail("the proof ends");
                return false;
            }
            if (!begun && c == 'c') {
                while (c != '\n' && c != kEnd) c = get();
                continue;
            }
            if (!begun && c == 'd') {
                begun = deletion = true;
                continue;
            }
            begun = true;
            const std::int32_t literal = number(c);
            if (literal == 0) return true;
            push(literals, literal);
        }
    }
    std::int32_t number(int c) {
        const bool negative = c == '-';
        if (negative) c = get();
        if (c < '0' || c > '9') fail("there is something that is no number");
        std::int64_t value = 0;
        for (; c >= '0' && c <= '9'; c = get()) {
            value = 10 * value + (c - '0');
            if (value > std::numeric_limits<std::int32_t>::max()) fail("a number is too large");
        }
        if (c == kEnd && value != 0) fail("the proof ends");
        if (c != kEnd && c != ' ' && c != '\n' && c != '\r' && c != '\t') fail("there is something that is no number");
        return static_cast<std::int32_t>(negative ? -value : value);
    }

    bool next_binary(std::vector<std::int32_t>& literals, bool& deletion) {
        const int kind = get();
        if (kind == kEnd) return false;
        if (kind != 'a' && kind != 'd') fail("there is neither an addition nor a deletion");
        deletion = kind == 'd';
        for (;;) {
            std::uint64_t code = 0;
            int shift = 0, byte;
            do {
                byte = get();
                if (byte == kEnd) fail("the proof ends");
                if (shift > 28) fail("a number is too large");
                code |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
                shift += 7;
            } while (byte & 0x80);
            if (code == 0) return true;
            const auto variable = static_cast<std::int64_t>(code >> 1);
            if (variable == 0 || variable > std::numeric_limits<std::int32_t>::max()) fail("a literal is impossible");
            push(literals, static_cast<std::int32_t>(code & 1 ? -variable : variable));
        }
    }

    const Read& read_;
    bool binary_, done_ = false;
    std::size_t longest_;
    std::string buffer_;
    std::size_t at_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace treeform::rup
