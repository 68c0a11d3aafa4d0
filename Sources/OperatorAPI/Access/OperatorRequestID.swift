import HTTPTransport

/// The id of an operators' request, in the answer's `x-request-id` and in the audit: the client's own, or a random number, since it has to
/// be told from those of other processes.
struct OperatorRequestID {
    let text: String

    init(_ request: HTTPRequest) {
        if let given = request.headers["x-request-id"], (1...64).contains(given.utf8.count),
            given.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        {
            self.text = given
        } else {
            self.text = "ops-\(String(UInt64.random(in: 0 ... .max), radix: 16))"
        }
    }
}
