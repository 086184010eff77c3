@freestanding(expression)
public macro stringify<T>(_ value: T) -> (T, String) =
    #externalMacro(module: "M", type: "S")

class Store {
    static let config: [String: Int] = [
        "a": 1,
        "b": 2,
    ]
    var total = 0 {
        didSet {
            save(total)
        }
    }
    lazy var maker: Maker = {
        Maker()
    }()
    let one = 1
    var size: Int { get set }
    enum Kind { case red, green
      case blue(Int) }
}
extension Store {
    static let more = [
        1,
    ]
}
enum Size {
    case small
    static let all = [
        1,
    ]
}
protocol Shape { var area: Double { get }
  associatedtype T }
protocol Holder { associatedtype Item }
