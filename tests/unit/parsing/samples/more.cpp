auto twice = [](int x) {
  int y = x;
  return y * 2;
};
namespace n {
static const auto half = [](int x) -> int {
  int y = x;
  return y / 2;
};
}
class A {
  int n_ = 0;
  static constexpr int kMax = 3;
  std::function<int(int)> f = [](int x) {
    int y = x;
    return y;
  };
  static const std::vector<int> all = {
    1,
  };
  int *p, q;
  void go();
  using Id = int;
  enum E { X, Y = 2 };
};
struct S { int a[3]; int (*fn)(int); };
void f() {
  auto cmp = [&](int a, int b) {
    int c = a;
    return c < b;
  };
}
namespace a::inline v1 {
class Dial : public QObject {
    Q_OBJECT
    Q_PROPERTY(int x READ x WRITE setX)
public:
    explicit Dial(int a) : a_(a) {}
signals:
    void changed(int);
private Q_SLOTS:
    void onClick() { }
};
}

class Aliases {
    using Row = int;
    template <class T> using Grid = T;
};

struct Version {
    Version() = default;
    auto operator<=>(const Version&) const = default;
};
enum class [[nodiscard]] State { On, Off };
export module shapes;
import std;
export namespace geo {
int unit = 1;
export int (*chosen(int a))(double) {
#ifdef FAST
    int local = 1;
#endif
    return nullptr;
}
}

LIB_BEGIN_NAMESPACE
LIB_BEGIN_EXPORT

// A text.
class compiled_text {};

LIB_END_EXPORT
LIB_END_NAMESPACE
