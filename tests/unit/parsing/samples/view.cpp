BEGIN_NAMESPACE
// Views.
class View {
  explicit FMT_CONSTEXPR View(int n) : size(n) {}
};
template <typename T, ENABLE_IF(is_x<T>::value && !is_y<T>::value)>
#if HAS_CLANG
__attribute__((no_sanitize))
#endif
inline auto equal(T x) -> bool {
  return x;
}
