import WidgetModel

/// Production and development, APNs' two services. A push token belongs to one app and one of them: the one that the app
/// is configured for when the token is registered. Where that is changed, tokens of the other are as unknown as at APNs,
/// until their hosts register them again or the change is taken back.
extension Engine {
    /// The environment of a host's app.
    func environment(of host: HostNumber) -> PushEnvironment {
        self.catalogue[self.registry[host].app].environment
    }

    /// Whether a control has a token that does not belong to the app's environment.
    func isOfOtherEnvironment(controlOf instance: InstanceNumber) -> Bool {
        guard let coldFields = self.registry.coldFields(of: instance) else { return false }
        return coldFields.controlToken != nil
            && coldFields.controlEnvironment != self.environment(of: self.registry[instance].host)
    }

    /// The token through which an instance is reached: a control's own, or its host's newest; nil if there is none of the
    /// app's environment.
    func token(of instance: InstanceNumber) -> DeviceToken? {
        let host = self.registry[instance].host
        if let own = self.registry[coldFields: instance].controlToken {
            return self.isOfOtherEnvironment(controlOf: instance) ? nil : own
        }
        return self.registry.newestToken(of: host, in: self.environment(of: host))
    }

    /// Tells the directory which tokens of a host and its controls stand for something in its app's environment, and which do not.
    mutating func announceTokens(of host: HostNumber) {
        let environment = self.environment(of: host)
        for token in self.registry.tokens(of: host) {
            self.announce(token.token, token.environment == environment, host: host, instance: nil)
        }
        for instance in self.registry.instances(of: host) where self.registry[instance].isLive {
            let coldFields = self.registry[coldFields: instance]
            guard let token = coldFields.controlToken else { continue }
            let isKnown = coldFields.controlEnvironment == environment
            self.announce(token, isKnown, host: host, instance: self.registry.id(of: instance))
        }
    }

    private mutating func announce(_ token: DeviceToken, _ isKnown: Bool, host: HostNumber, instance: InstanceID?) {
        guard isKnown else { return self.output.directory.append(.forgotten(token)) }
        self.announce(token, host: host, instance: instance)
    }
}
