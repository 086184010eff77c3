public class Failure(int id, string message) : Exception($"Error {id}: {message}");
struct Pair(int y);
interface IMark;
public class Gen<T> : Base where T : class;
enum Empty;
class Shelf
{
    /// <summary>Rings when the shelf is empty.</summary>
    public event EventHandler? Emptied
    {
        add { Note("sub"); }
        remove { Note("unsub"); }
    }
    Func<int, int> Tripler { get; } = x =>
    {
        return x * 3;
    };
    public event EventHandler Plain;
    public int Auto { get; set; } = 3;
    private int count = 0;
    private Func<int, int> twice = x =>
    {
        return x * 2;
    };
    const int Max = 3;
}
enum Colour { Red, Green = 2 }
record P(int A, string B);
interface I { int Size { get; } event E Rings; }
class X { public required int Y { get; init; } }

static class Texts
{
    extension(string text)
    {
        public bool IsBlank => text.Length == 0;
        public string Shout()
        {
            return text.ToUpper();
        }
    }
    public static int Last(this string text) => 1;
}

class Verbatim { public int @class = 1; }
