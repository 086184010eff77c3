namespace Shop.Web;

// The front page.
public class Home
{
    public void Show() { }
}
