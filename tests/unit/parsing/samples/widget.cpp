class GUI_EXPORT Widget : public QObject {
public:
    void paint() { }
};
class GUI_EXPORT Panel : public QObject, private Mixin<int> {
    void show() { }
};
struct GUI_EXPORT(2) Pane final {
    int x;
};
struct Bits { enum color shade : 3; };
