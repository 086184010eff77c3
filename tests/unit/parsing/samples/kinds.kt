typealias Id = Int
interface Named
enum class Colour { RED }
val sizes = mapOf(
  1 to 2)
val one = 1
