given intShow: Ord[Int] with
  def compare(a: Int, b: Int): Int =
    a - b
given short: Show[Int] = new Show[Int]:
  def show(x: Int) = ""
given Show[String] with
  def show(x: String) = x
class Orders(val n: Int, var m: Int, k: Int) {
  val names = List(
    "a",
  )
  lazy val one = 1
  var two: Int = 2
  val abs: Int
}
trait T { def x: Int; val y: Int }
enum Colour { case Red, Green; case Blue(x: Int) }
enum Wide:
  case A
  case B extends Wide
object O { val x = 1 }
test("adds") {
  1
}

object Timers {
  val tick = new Runnable {
    def run(): Unit = go()
  }
}
