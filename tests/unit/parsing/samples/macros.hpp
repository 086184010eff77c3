class Q_GUI_EXPORT Check : public QObject
{
    Q_OBJECT
public:
    typedef const T &reference;
    typedef typename Base::pointer pointer;
    static Fragment Q_GUI_EXPORT create(const Point &place);
    enum State : unsigned char { Open, Closed };
    enum State stateOf() const {
        return Open;
    }
    enum Word { First DEPRECATED_X("old") = 1, Second };

private:
    Q_DISABLE_COPY(Check)
    Q_DECLARE_PRIVATE(Check)
};

class Q_GUI_EXPORT Other
{
    DEPRECATED_X("use f(g(h(1))) instead")
    int count() { return 1; }
};

namespace fs = std::filesystem;
void (Check::*const steps[])(int) = {
    &Check::first,
    &Check::second,
};

WARNING_PUSH
WARNING_DISABLE_DEPRECATED

/*
    These are old.
*/
namespace old {
class Generator
{
    DECLARE_PUBLIC(Generator);
    friend class Q_CORE_EXPORT Seed;

public:
    enum Source { System, Global };
    enum Range {
        First DECL_DEPRECATED = 3,
        Last DECL_DEPRECATED_X(
            "use First"),
    };
    static DECL_CONST_FUNCTION Q_CORE_EXPORT Generator *system();
};

class DEPRECATED_X("use Window")
Q_CORE_EXPORT View : public Widget
{
};
}
