namespace shop {
class Cart : public Base {
public:
    explicit Cart(Base *parent = nullptr);
    ~Cart() override;
    /// Adds a part.
    void add(int part) const;
    virtual int size() const = 0;
    static Cart *make();
    bool operator==(const Cart &other) const;
    operator bool() const;
    template <typename T> T get(int at);
#ifdef NAMES
    Cart(const char *name);
    Name &name();
#endif
};
std::string joined(const std::vector<std::string> &parts, char mark = ',');
template <typename T> void sort(T &parts);
const Cart &first();
extern "C" int count(int);
}
