import Engine
import Partitions
import Serving
import WidgetModel

/// The bindings of some registrations' push tokens at the time when the registrations came.
///
/// They are looked up once for all: tokens that no host here has are asked of the partitions of other nodes.
struct TokenBindings {
    private let found: [DeviceToken: Result<TokenLookup, Problem>]

    init(of tokens: [DeviceToken], _ log: CommandLog, _ directory: any TokenDirectory) async {
        let lookups = await log.lookups(tokens, in: directory)
        self.found = Dictionary(zip(tokens, lookups), uniquingKeysWith: { first, _ in first })
    }

    /// The binding of a token; nil if it is bound to nothing.
    ///
    /// - Precondition: The token was looked up.
    /// - Throws: `partition-away` if no host here has it, and a partition of another node does not say whether it has.
    func binding(of token: DeviceToken) throws(Problem) -> TokenBinding? {
        guard let lookup = self.found[token] else { preconditionFailure("a token that was not looked up") }
        guard case .bound(let binding) = try lookup.get() else { return nil }
        return binding
    }
}

/// A registration as its caller asks for it, before its push tokens are looked up.
struct RegistrationRequest {
    let token: DeviceToken
    let body: RegistrationBody
    let caller: Caller

    /// The push tokens that it is judged by.
    var tokens: [DeviceToken] {
        [self.token] + (self.body.replacedToken.map { [$0] } ?? []) + self.body.instances.compactMap(\.controlToken)
    }
}
