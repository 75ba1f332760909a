#pragma once

#include <string>
#include <vector>

namespace skep::bench {

// One line of the table: a ratio (or a count) taken several times in one run, its floor and its
// goal.
struct Figure {
  enum class Bound { kAtLeast, kAtMost, kNone };  // kNone: printed beside the others

  std::string name;
  Bound bound = Bound::kAtLeast;
  double floor = 0;  // must hold
  double goal = 0;   // what to aim at
  std::vector<double> values = {};
  std::string note = {};  // what the ratio was made of, for people

  double median() const;
  bool holds() const;
};

// "name  0.52 (0.49–0.55)  floor 0.50 goal 0.70  note"
void Print(const Figure& figure);

double Median(std::vector<double> values);

}  // namespace skep::bench
