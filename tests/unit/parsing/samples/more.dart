extension type Meter(int v) {
  int twice() {
    return v * 2;
  }
}
extension Shouts on String {
  String shout() {
    return toUpperCase();
  }
}
extension on int { int three() { return 3; } }
mixin Floats on Boat {
  void rise() {
    print(1);
  }
}
base mixin class Z {}
final twice = (int x) {
  return x * 2;
};
class C {
  final int n = 1;
  static const names = [
    'a',
  ];
  int? late;
  final Map<String, int> table = {
    'a': 1,
  };
  var f = (int x) {
    return x;
  };
  int get size => 1;
  set size(int v) { }
}
enum Colour { red, green; int x() => 1; }
enum Big { a(1), b(2); const Big(this.v); final int v; }
main() {
  test('adds', () {
    expect(1, 1);
  });
}
class Named {
  Named._();
  Named.of(this.a);
  const Named.zero() : a = 0;
  int get size => a;
  int a;
  void other() {}
  set size(int n) { a = n; }
}
typedef int Old(int a);
external int native(int a);
const int maxItems = 10;
