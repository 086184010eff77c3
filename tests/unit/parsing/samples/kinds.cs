using Shop;
var app = Build(args);
app.Use(1);
app.Run();
namespace Shop {
  class Orders { static readonly int[] Sizes = {
      1 };
    const string One = "a";
    int count = Sum(
      1);
  }
  delegate int Handler(int x);
  struct Point { }
  interface INamed { }
  enum Colour { Red }
}
