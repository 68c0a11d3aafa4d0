package import Timelines
package import WidgetModel

/// A host with its instances; nil if it is not registered here.
package struct HostQuestion: HostBoundQuestion {
    package static let coding = Fields(Self.init, \.host)
    package let host: HostKey

    package init(_ host: HostKey) { self.host = host }

    package func answer(from engine: borrowing Engine) -> HostView? { engine.host(self.host) }
}

/// The state that a host needs after a gap; nil if it is not registered here.
package struct HostStateQuestion: HostBoundQuestion {
    package static let coding = Fields(Self.init, \.host)
    package let host: HostKey

    package init(_ host: HostKey) { self.host = host }

    package func answer(from engine: borrowing Engine) -> HostState? {
        guard let view = engine.host(self.host) else { return nil }
        let instances = view.instances.compactMap {
            engine.instance(InstanceAddress(host: self.host, instance: $0.id))
        }
        return HostState(host: view, instances: instances, outstanding: engine.outstandingReloads(host: self.host))
    }
}

/// A host with everything about its widgets.
package struct HostState: Hashable, Sendable {
    package let host: HostView
    package let instances: [InstanceView]
    /// In the order in which they were issued.
    package let outstanding: [ReloadEffect]
}

/// The widgets of a host in the order of a Smart Stack; nil if it is not registered here.
package struct StackQuestion: HostBoundQuestion {
    package static let coding = Fields(Self.init, \.host, \.at)
    package let host: HostKey
    /// The instant asked for; nil for the log's time.
    package let at: Instant?

    package init(_ host: HostKey, at: Instant?) { (self.host, self.at) = (host, at) }

    package func answer(from engine: borrowing Engine) -> StackView? {
        let at = self.at ?? engine.time
        return engine.stack(of: self.host, at: at).map { StackView(stack: $0, at: at) }
    }
}

/// A Smart Stack with its instant.
package struct StackView: Hashable, Sendable {
    package let stack: SmartStack
    package let at: Instant
}

/// The state of push tokens: which hosts and controls have them, and which were removed lately. The answer leaves out unknown tokens.
package struct TokensQuestion: ItemsQuestion {
    package static let coding = Fields(Self.init, \.items)
    package let items: [DeviceToken]

    package init(_ tokens: [DeviceToken]) { self.items = tokens }

    package func answer(from engine: borrowing Engine) -> [DirectoryChange] {
        self.items.compactMap { engine.standing(of: $0) }
    }
}

/// The push tokens of hosts and of their controls. A host that is not registered here has none.
package struct HostTokensQuestion: ItemsQuestion {
    package static let coding = Fields(Self.init, \.items)
    package let items: [HostKey]

    package init(_ hosts: [HostKey]) { self.items = hosts }

    package func answer(from engine: borrowing Engine) -> [DirectoryChange] {
        var tokens: [DirectoryChange] = []
        for key in self.items {
            guard let host = engine.registry.findHost(key) else { continue }
            tokens += engine.tokens(of: host).compactMap { engine.standing(of: $0) }
        }
        return tokens
    }
}

/// The hosts and instances that registrations would add to the registry now; nil for one that would be refused.
package struct RegistrationsQuestion: ItemsQuestion {
    package static let coding = Fields(Self.init, \.items)
    package let items: [HostRegistration]

    package init(_ registrations: [HostRegistration]) { self.items = registrations }

    package func answer(from engine: borrowing Engine) -> [RegistryAdditions?] {
        self.items.map { engine.additions(of: $0) }
    }
}

/// Everything about a widget instance; nil if no host shows it here.
package struct InstanceQuestion: HostBoundQuestion {
    package static let coding = Fields(Self.init, \.address, \.decisions, \.pending)
    package let address: InstanceAddress
    /// How many of its last decisions, and of the causes that wait, to show at most.
    package let decisions: Int
    package let pending: Int

    package var host: HostKey { self.address.host }

    package init(_ address: InstanceAddress, decisions: Int = 100, pending: Int = .max) {
        (self.address, self.decisions, self.pending) = (address, max(0, decisions), max(0, pending))
    }

    package func answer(from engine: borrowing Engine) -> InstanceView? {
        engine.instance(self.address, decisions: self.decisions, pending: self.pending)
    }
}
