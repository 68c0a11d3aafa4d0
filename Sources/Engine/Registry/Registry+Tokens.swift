import Storage
import WidgetModel

/// Push tokens: which host or control each stands for, and which were removed lately.
extension Registry {
    /// Tokens that stand for a host or a control.
    var boundTokenCount: Int { self.tokens.boundCount }
    /// Tokens that are answered as removed.
    var removedTokenCount: Int { self.tokens.removedCount }

    /// The host or control behind a token; nil for one that was removed, or never known.
    func binding(of token: DeviceToken) -> TokenBinding? { self.tokens.binding(of: token) }

    /// The removal of a token that stands for nothing any more; nil for any other.
    func removal(of token: DeviceToken) -> RemovedToken? { self.tokens.removal(of: token) }

    /// The push tokens of a host, the oldest first. O(tokens).
    func tokens(of host: HostNumber) -> [BoundToken] { self.tokens.tokens(from: self[host].firstToken) }

    /// Gives the bytes of each token of a host to `body`, the oldest token first. O(tokens).
    @inline(__always)
    func forEachToken(of host: HostNumber, _ body: (Span<UInt8>) -> Void) {
        self.tokens.forEach(from: self[host].firstToken, body)
    }

    /// How many tokens a host has. O(tokens).
    func tokenCount(of host: HostNumber) -> Int { self.tokens.count(from: self[host].firstToken) }

    /// The oldest token of a host. Precondition: it has one.
    func oldestToken(of host: HostNumber) -> DeviceToken { self.tokens.token(self[host].firstToken) }

    /// The youngest token of a host in an environment. O(tokens).
    func newestToken(of host: HostNumber, in environment: PushEnvironment) -> DeviceToken? {
        self.tokens.newest(from: self[host].firstToken, in: environment).map { self.tokens.token($0) }
    }

    /// When a token became a host's; nil if it is not. O(tokens).
    func boundAt(_ token: DeviceToken, of host: HostNumber) -> Instant? {
        self.tokens.find(token, from: self[host].firstToken).map { self.tokens.boundAt($0) }
    }

    /// Makes a token that stands for nothing the youngest of a host. O(tokens).
    mutating func append(_ token: DeviceToken, to host: HostNumber, at now: Instant, _ environment: PushEnvironment) {
        let number = self.tokens.bind(token, to: TokenBinding(host: host, instance: .none))
        self.tokens.append(number, boundAt: now, environment, to: &self.hosts.rows[host].firstToken)
    }

    /// A host says again that a token is its own.
    ///
    /// - Returns: Whether its environment is another one than before.
    mutating func renew(_ token: DeviceToken, of host: HostNumber, at now: Instant, _ environment: PushEnvironment)
        -> Bool
    {
        guard let known = self.tokens.find(token, from: self[host].firstToken) else { return false }
        let old = self.tokens.environment(known)
        self.tokens.renew(known, at: now, environment)
        return old != environment
    }

    /// Lets a token that stands for nothing stand for a control.
    mutating func bind(_ token: DeviceToken, toControl instance: InstanceNumber) {
        self.tokens.bind(token, to: TokenBinding(host: self[instance].host, instance: instance))
    }

    /// Takes a token out of a host's list, whatever it stands for now. O(tokens).
    mutating func unlink(_ token: DeviceToken, from host: HostNumber) {
        self.tokens.unlink(token, from: &self.hosts.rows[host].firstToken)
    }

    /// Makes a host's list of tokens empty. O(tokens).
    mutating func unlinkTokens(of host: HostNumber) { self.tokens.unlinkAll(from: &self.hosts.rows[host].firstToken) }

    /// From now on a token is answered as removed.
    mutating func markRemoved(_ token: DeviceToken, ofApp app: AppNumber, _ reason: TokenRemoval, at now: Instant) {
        self.tokens.markRemoved(token, ofApp: app, reason, at: now)
    }

    /// Leaves nothing of removed tokens, see ``TokenTable/erase(_:)``.
    mutating func erase(_ tokens: [DeviceToken]) -> Erasure { self.tokens.erase(tokens) }

    /// Goes on with an erasure, see ``TokenTable/finish(_:_:)``.
    mutating func finish(_ erasure: inout Erasure, _ units: inout Int) -> Bool { self.tokens.finish(&erasure, &units) }

    /// When the oldest removal may be forgotten, if there is one.
    func nextTokenForgetting(after retention: Interval) -> Instant? { self.tokens.nextForgetting(after: retention) }

    /// Forgets tokens that were removed that long ago, see ``TokenTable/forget(at:after:atMost:)``.
    mutating func forgetTokens(at now: Instant, after retention: Interval, atMost removals: inout Int) -> [DeviceToken]
    {
        self.tokens.forget(at: now, after: retention, atMost: &removals)
    }

    /// The removed tokens that are answered as such, in the order of their removal. O(removals).
    var removedTokens: [RemovedToken] { self.tokens.removals.filter { self.tokens.isLast($0) } }
}
