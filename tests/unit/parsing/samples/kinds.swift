struct Point { }
enum Colour { case red }
protocol Named { }
typealias Id = Int
let sizes = [
  1]
