namespace geo {
/// A circle.
class Circle {
public:
    double radius() const { return r_; }
};
}
