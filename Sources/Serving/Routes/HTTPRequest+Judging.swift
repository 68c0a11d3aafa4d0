package import HTTPTransport
package import Partitions

extension HTTPRequest {
    /// Whether a route may read the body.
    package var hasReadBody: Bool { self.method == "POST" || self.method == "PUT" }

    /// Finds out who asks, and counts credentials that are refused; where too many were, none is looked at.
    package func countingRefusals<Result>(
        _ identify: (HTTPRequest) throws(Problem) -> Result
    ) throws(Problem) -> Result {
        guard let refused = self.refusedCredentials else { return try identify(self) }
        guard !refused.isExhausted else {
            throw Problem(
                .invalidCredential,
                "too many credentials on this connection were refused; open another connection"
            )
        }
        do throws(Problem) {
            let result = try identify(self)
            refused.acceptCredential()
            return result
        } catch {
            // One that is missing costs nothing.
            if error.code == .invalidCredential || error.code == .expiredCredential { refused.count() }
            throw error
        }
    }
}
