#pragma once
// The best tree of at most two tests, for two classes and thresholds too many to count in pairs. Two of its three leaves
// predict the same class c, or all do: two regions A and B, each on one side of a threshold, predict c, and the rest of
// the set x predicts the other class d. Whichever of the two tests is the root, the tree costs
//
//     cost_c(A or B) + cost_d(x without A and B).
//
// The regions on one side of a feature are nested. With first and last ones of two features and sides, all pairs between
// them cost at least cost_c(A_first or B_first) + cost_d(x without A_last and B_last); so boxes of regions are bisected.
#include <array>
#include <vector>

#include "control.hpp"
#include "instance.hpp"

namespace treeform::diagram {

class Regions {
public:
    /// Without `used` it suits no table.
    Regions(const Instance& in, const Control& control, bool used);

    /// Whether the table has two classes.
    bool suits() const { return used_; }
    /// Lowers `best` to the least cost of such a tree, if that is less; false if it took more than `most` words, and
    /// nothing is proved.
    bool search(const Word* x, Cost& best, double most);
    /// Words read by the last search.
    double words_read() const { return double(words_read_); }

private:
    /// One side of a feature: regions 1 .. `size` cost less than is asked for, region 0 is empty.
    struct Side {
        int feature = 0;
        bool is_left = true;
        int size = 0;
        Cost saved = 0;  // what the largest region costs as the other class
        int first_level = 0, levels = 0;  // its part of `level_`
    };
    /// Levels first .. last of two sides.
    struct Box {
        int first_a, last_a, first_b, last_b;
    };
    /// A set of points, or the points outside of it.
    struct Points {
        const Word* set;
        Word flip;
    };
    const Instance& in_;
    const Control& control_;
    bool used_;
    std::array<std::vector<int>, 2> planes_;  // by class
    std::array<std::vector<Word>, 2> within_;  // the set in every plane of a class
    std::array<std::vector<int>, 2> guess_;  // sizes of the sides in the last search
    std::array<std::int64_t, 2> words_of_{};  // of all planes of a class
    std::array<Cost, 2> total_{};
    std::vector<Side> sides_;
    std::vector<Word> left_over_;  // per side: what its largest region leaves of the other class, by plane
    std::vector<int> level_;  // of each cost the largest region
    std::vector<Box> boxes_;
    Set none_;
    std::int64_t words_read_ = 0;
    double most_words_ = 0;

    Points region(const Side& one, int i) const;
    template <class Count>
    Cost sum_of(int c, const Count& count);
    Within within(int c) const;
    Nested nested(const Side& one) const;
    Cost cost_outside(int c, const Points& a, const Points& b);
    void list_sides(int c, Cost need);
    void list_left_over(int d);
    Cost left_over(std::size_t a, std::size_t b, int d);
    void list_levels(int c, Side& one);
    bool search_pair(int c, Side& a, Side& b, Cost& best);
};

}  // namespace treeform::diagram
