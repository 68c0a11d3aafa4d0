import HTTPTransport
import Synchronization

/// What a request of operators goes by, in the answer's `x-request-id` and in the audit log: what the client called it, or
/// a number.
struct OperatorRequestID {
    let text: String

    private static let next = Atomic<UInt64>(1)

    init(_ request: HTTPRequest) {
        if let given = request.headers["x-request-id"], (1...64).contains(given.utf8.count),
            given.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        {
            self.text = given
        } else {
            self.text = "ops-\(Self.next.wrappingAdd(1, ordering: .relaxed).oldValue)"
        }
    }
}
