const S = struct { a: u8, b: i32 = 1, const X = 1; };
const E = enum { red, green };

pub const @"odd name" = struct {
    @"type": u8,
    pub fn @"while"() void {}
};
