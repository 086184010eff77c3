type Id = Int
trait Named
val sizes = Map(
  1 -> 2)
object Shop {
  val names = List(
    "a")
}
