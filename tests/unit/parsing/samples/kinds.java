class Orders {
  private static final int ONE = 1;
  /** Names. */
  private static final String[] NAMES = {
    "a",
  };
  int count = sum(
    1);
  void clear() {}
}
interface Limits { int ONE = 1; int TWO = sum(
  1); }
@interface Marked { int value(); }
record Point(int x) {}
enum Colour { RED }
