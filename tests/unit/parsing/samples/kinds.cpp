namespace shop {
using Id = int;
template <class T> using List = std::vector<T>;
static const std::vector<int> sizes = {
  1, 2 };
struct Point { using Id = int; int x() { return 1; } };
enum class Colour { Red };
template <class T> concept Named = true;
}
