import 'dart:async';

/// A shape.
abstract class Shape<T> extends Base with Mixin implements Other {
  static const int corners = 4;
  final double size;

  /// Make it.
  Shape(this.size);
  Shape.named({required this.size}) : super(1);
  factory Shape.of(int n) => Shape(n);

  /// The area.
  @override
  double area(int factor) {
    double twice(double x) => x * 2;
    return twice(size);
  }

  String get name => 'shape';
  set name(String value) {
    _name = value;
  }
  Future<void> load() async {
    await fetch();
  }
  bool operator ==(Object other) => true;
  double perimeter();
}

mixin Walks on Shape {
  void walk() {}
}
extension Loud on String {
  String shout() => toUpperCase();
}
enum Colour { red, green; String hex() => ''; }
typedef Callback = void Function(int);
const table = {
  'a': 1,
  'b': 2,
};
/// Run it.
void main(List<String> args) async {
  runApp(() {
    print(1);
    print(2);
  });
}
int get answer => 42;
