namespace geo {
namespace detail::inner {
/// Add two numbers.
int add(int a, int b) { return a + b; }
}

/**
 * @brief A shape.
 */
class Shape : public Base {
public:
    /// Make it with corners.
    explicit Shape(int n) : n_(n) {}
    virtual double area() const = 0;
    void declared_only(int a);
    bool operator==(const Shape& other) const { return true; }
    /// Any property.
    template <typename T>
    T get() const { return T{}; }

private:
    int n_;
};

template <class T>
class Box<T*> final {
    T value;
};

/// Scale the shape.
double Shape::scale(double factor) const {
    return factor;
}
Shape::~Shape() {}
Shape& Shape::operator+=(const Shape& other) { return *this; }
Shape::operator int() const { return 1; }

// The larger of the two.
template <typename T, typename U>
auto largest(T a, U b) -> decltype(a) {
    return a > b ? a : b;
}
template <typename T>
T* Box<std::vector<T>>::release() { return nullptr; }
}

class LIB_EXPORT Widget : public Base {
    int width() { return 1; }
};
