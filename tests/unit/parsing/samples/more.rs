struct S { pub a: i32, b: Vec<u8> }
struct T(i32);
enum E { A, B(i32), C { x: i32 } }
impl S { const X: i32 = 1; }
trait Q { const Y: i32; type Item; }
union U { a: u8 }

impl Iterator for Bag {
    type Item = u8;
}
extern "C" { fn free(p: *mut u8); }
bitflags! {
    pub struct Flags: u32 {
        /// Can be read.
        const READ = 0b01;
        const BOTH = Self::READ.bits()
            | 0b10;
    }
}

fn r#type() {}
impl Call for fn(u8) -> u8 { fn call(&self) {} }
