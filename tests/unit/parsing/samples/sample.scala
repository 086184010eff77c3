package shop.core

/** Keeps orders. */
@deprecated("use Store")
class Orders[T](val n: Int)(implicit e: Env) extends Base[T](n) with Printable {
  /** The total. */
  @tailrec
  final def total(rate: Double): Double = {
    def round(a: Double) = a
    round(rate)
  }
  def +(other: Orders[T]): Orders[T] = other
}

object Orders { def apply(n: Int) = new Orders(n) }

trait Printable { def print(): Unit }

case class Point(x: Int, y: Int)

enum Colour(val v: Int):
  case Red extends Colour(1)
  def hex: String = "x"

extension (s: String)
  // Say it loudly.
  def shout(n: Int): String =
    s.toUpperCase

given Ordering[Point] with
  def compare(a: Point, b: Point): Int = 0
