import Engine
import WidgetModel

/// The host or control behind a push token.
struct FaultToken: Hashable, Sendable {
    let host: HostKey
    /// The control that it is of; nil for the host's widgets.
    let instance: InstanceID?
}

/// A gateway's knowledge of tokens, from its logs.
extension FaultRun {
    /// Takes in the log's entries about tokens.
    mutating func learnTokens(_ changes: [DirectoryChange]) {
        for change in changes {
            switch change {
            case .bound(let token, let host, let instance):
                self.directory[token] = FaultToken(host: host, instance: instance)
            case .removed(let token, _, _, _): self.directory[token] = .some(nil)
            case .forgotten(let token): self.directory[token] = nil
            }
        }
    }

    /// Takes in the tokens that a state holds.
    mutating func learnTokens(of owner: SimulatedOwner) {
        for number in 0..<FaultWorld.hosts {
            guard let view = owner.engine.host(FaultWorld.host(number)) else { continue }
            for token in view.tokens { self.directory[token] = FaultToken(host: view.host, instance: nil) }
            for instance in view.instances {
                guard let token = instance.controlToken else { continue }
                self.directory[token] = FaultToken(host: view.host, instance: instance.id)
            }
        }
        var removed: [DirectoryChange] = []
        owner.engine.removedTokens { removed += $0 }
        self.learnTokens(removed)
    }
}
