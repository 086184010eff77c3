use shop::orders;
const NAMES: [&str; 2] = [
  "a", "b"];
static ONE: i32 = 1;
static TWO: i32 = 2;
thread_local!(static THREE: i32 = 3);
type Id = u8;
union Bits { a: i32 }
struct Point;
enum Colour { Red }
trait Named {}
impl Named for Point { const ONE: i32 = 1; type X = u8; }
