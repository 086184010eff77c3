const std = @import("std");
//! Top docs.

/// A stack.
pub const Stack = struct {
    items: []u8,
    /// Push it.
    pub fn push(self: *Stack, x: u8) void {
        self.items[0] = x;
    }
    pub fn Inner(comptime T: type) type {
        return struct {
            a: T,
            pub fn get(self: @This()) T { return self.a; }
        };
    }
};
const Color = enum { red, green };
const U = union(enum) { a: u8, b: u16 };
const Err = error{ A, B };
pub const table = [_]u8{
    1, 2,
    3,
};
fn free() void {}
test "push works" {
    try std.testing.expect(true);
}
