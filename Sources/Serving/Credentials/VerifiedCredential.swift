package import APNSWire

/// A credential whose signature was verified. Its time and its rights are to be checked at each use.
package enum VerifiedCredential: Sendable {
    case host(HostCredential)
    case token(VerifiedSender)

    /// The caller that shows it.
    package var caller: Caller {
        switch self {
        case .host(let credential): .host(credential)
        case .token(let verified): .sender(verified.sender, .token(verified))
        }
    }
}
