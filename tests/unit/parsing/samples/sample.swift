import Foundation

// MARK: - Shapes
/// A shape.
@available(iOS 13, *)
public final class Shape: Base, Printable {
    var area: Double { return 1.0 }

    /// Make it.
    public init(n: Int) throws { self.n = n }
    deinit { }

    /// Scale it.
    @discardableResult
    func scale<T>(by factor: T, _ count: Int) async throws -> Double where T: Numeric {
        func local() {}
        return factor
    }

    static func == (a: Shape, b: Shape) -> Bool { return true }
    struct Corner { let x: Int }
}

protocol Printable {
    /// Print it.
    func print(_ count: Int) -> String
}

extension Shape: Equatable {
    /** Twice the area. */
    func twice() -> Double { 2 * area }
}

extension Array.Index where Element == Int { func sum() -> Int { 0 } }

enum Colour: Int { case red; func hex() -> String { "" } }
