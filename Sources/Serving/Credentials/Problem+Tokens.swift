package import APNSWire
package import Partitions

extension Problem {
    /// Why a provider token speaks for no sender.
    package init(_ fault: ProviderTokenError) {
        switch fault.rejection {
        case .expiredProviderToken:
            self.init(.expiredCredential, "provider token: \(fault.sentence); mint a new one")
        case .missingProviderToken: self.init(.missingCredential, fault.sentence)
        default: self.init(.invalidCredential, "provider token: \(fault.sentence)")
        }
    }
}
