public partial class Money
{
    public partial Money();
    public int Total { get; set; }
    public void operator +=(int n) { Total += n; }
    public void operator <<=(int n) { Total <<= n; }
    public void Safe(Money? m)
    {
        m?.Total = 3;
        m?[0] += 1;
    }
    public void After() { }
}
public class Next { public void Go() { } }
