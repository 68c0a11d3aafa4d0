package import APNSWire
import Engine
import HTTP2
import HTTPTransport
import IntentMatching
import Partitions
package import Serving
import WidgetModel

/// Judges pushes: every check of the push contract, in the order of the rules in `docs/apns-conformance.md`, from a
/// request's bytes to the destination of its record.
///
/// One per event loop. Knows no socket and no clock; it changes only the cache of verified tokens and the binding of
/// the connection.
package struct PushJudge: ~Copyable {
    /// The apps that are served; this loop's own copy, as ``bounds`` is.
    private(set) var apps: ServedApps
    private(set) var bounds: ServingBounds
    private let liveApps: LiveApps
    private var appsGeneration: UInt64
    let senders: SenderDirectory
    private let directory: HostDirectory
    private let seed: UInt64
    let reader = JSONReader()
    private var tokens: ProviderTokenCache<VerifiedSender>
    /// At most one for each provider key.
    private var ownSenders: [KeyID: (shared: Sender, own: Sender)] = [:]
    /// The number of the token that came last: most likely the next one's, too.
    private var latestToken = 0
    /// Of the keys that the remembered tokens were verified with.
    private var generation: UInt64
    /// The device tokens of the batch at hand.
    private var deviceTokens = BatchTokens()
    /// Room for the next place of a push, see ``reuse(_:)``.
    private var room = HostPlace()
    /// How many signatures were checked: a token that was verified before costs none.
    package private(set) var verifications = 0

    /// - Parameters:
    ///   - apps: The served apps and their bounds, which may change.
    ///   - seed: A secret random number, for the cache of tokens.
    package init(
        apps: LiveApps,
        senders: SenderDirectory,
        directory: HostDirectory,
        seed: UInt64
    ) {
        self.liveApps = apps
        self.appsGeneration = apps.generation
        self.apps = apps.apps.copy()
        self.bounds = apps.bounds
        self.senders = senders
        self.directory = directory
        self.seed = seed
        self.tokens = ProviderTokenCache(capacity: self.bounds.intake.verifiedTokensMax, seed: seed)
        self.generation = senders.keys.generation
    }

    /// How many verified tokens are remembered.
    package var rememberedTokens: Int { self.tokens.count }

    /// Reads the device tokens of a batch whose requests are about to be judged.
    mutating func prefetch(_ batch: borrowing RequestBatch) {
        self.deviceTokens.read(batch, self.directory)
    }

    /// Judges a push's method, path and credentials.
    ///
    /// - Throws: The answer for the first rule that it breaks.
    package mutating func authorize(_ push: borrowing PushContext) throws(RejectionAnswer) -> AuthorizedPush {
        self.refreshApps()
        do throws(ProviderTokenError) {
            let target = try Self.target(of: push)
            let authorized = try self.authorized(push, target)
            try Self.check(target.path.action, of: authorized.sender)
            return authorized
        } catch {
            throw RejectionAnswer(error, about: push)
        }
    }

    /// Judges the rest of a push: its headers, its body, and where it goes.
    ///
    /// - Throws: The answer for the first rule that it breaks.
    package mutating func judge(
        _ authorized: consuming AuthorizedPush,
        _ push: borrowing PushContext
    ) throws(RejectionAnswer) -> JudgedPush {
        // A sender that was verified under newer tables finds its apps here.
        self.refreshApps()
        let token = self.token(of: authorized.target, push)
        let limits = self.bounds.intake.push(authorized.target)
        let head = try Self.validate(authorized, push, tokenIsHex: token?.isHex, limits)
        let app = self.apps[number: head.app]
        guard PushTypeSet.widgetKit.contains(head.type) else {
            return JudgedPush(sender: authorized.sender, app: app, push: head, destination: .upstream, details: nil)
        }
        let isPlain = !head.isTargeted && PushPayload.isPlain(push.body)
        let details = isPlain ? nil : try self.details(push.body, isTargeted: head.isTargeted, app)
        return JudgedPush(
            sender: authorized.sender,
            app: app,
            push: head,
            destination: try self.destination(of: head, token, app, push.bytes, at: push.now),
            details: details
        )
    }

    /// Takes back the room of a push that needs it no more: so a push that goes to a host makes none of its own.
    mutating func reuse(_ destination: consuming JudgedPush.Destination) {
        switch consume destination {
        case .host(let place): self.room = place
        default: break
        }
    }

    /// Judges a push whose body has not come: its method, path and credentials, but not the earlier requests of its connection, of
    /// which nothing is remembered either.
    ///
    /// - Returns: Its path, which bounds the body.
    mutating func judgeHead(_ push: borrowing PushContext) throws(RejectionAnswer) -> PushPath {
        self.refreshApps()
        do throws(ProviderTokenError) {
            let target = try Self.target(of: push)
            try self.checkCredentials(push)
            return target.path
        } catch {
            throw RejectionAnswer(error, about: push)
        }
    }

    /// Refuses credentials that are bad by themselves. Remembers nothing of the connection.
    mutating func checkCredentials(_ push: borrowing PushContext) throws(ProviderTokenError) {
        guard try Self.certifiedSender(of: push) == nil else { return }
        try self.senders.check(try self.verified(push), now: push.now)
    }

    /// Takes other apps and bounds when there are any.
    @inline(__always)
    mutating func refreshApps() {
        let generation = self.liveApps.generation
        guard generation != self.appsGeneration else { return }
        self.takeApps(generation)
    }

    @inline(never)
    private mutating func takeApps(_ generation: UInt64) {
        self.appsGeneration = generation
        self.apps = self.liveApps.apps.copy()
        let verifiedTokensMax = self.bounds.intake.verifiedTokensMax
        self.bounds = self.liveApps.bounds
        guard self.bounds.intake.verifiedTokensMax != verifiedTokensMax else { return }
        self.tokens = ProviderTokenCache(capacity: self.bounds.intake.verifiedTokensMax, seed: self.seed)
        self.latestToken = 0
    }

    /// The target of a push, its form not yet checked.
    private static func target(of push: borrowing PushContext) throws(ProviderTokenError) -> PushTarget {
        do throws(Rejection) {
            return try PushValidation.beforeCredentials(push.head, in: push.bytes)
        } catch {
            throw ProviderTokenError(error, "")
        }
    }

    /// The push with its sender, by its certificate or its token.
    private mutating func authorized(
        _ push: borrowing PushContext,
        _ target: PushTarget
    ) throws(ProviderTokenError) -> AuthorizedPush {
        if let sender = try Self.certifiedSender(of: push) {
            let place = PushPlace(push.head, in: push.bytes, target: target, topics: sender.topics)
            return AuthorizedPush(sender: sender, target: target, place: place)
        }
        let token = try self.verified(push)
        let place = PushPlace(push.head, in: push.bytes, target: target, topics: token.sender.topics)
        try push.state.admit(
            token,
            isOfOtherEnvironment: place.isOfOtherEnvironment,
            by: self.senders,
            at: push.now
        )
        return AuthorizedPush(sender: token.sender, target: target, place: place)
    }

    /// The sender that the client certificate speaks for; nil if a provider token has to say who it is.
    static func certifiedSender(of push: borrowing PushContext) throws(ProviderTokenError) -> Sender? {
        guard let verdict = push.state.certificate?.verdict else { return nil }
        switch verdict {
        case .sender(let sender): return sender
        case .unknown:
            guard push.head.authorization?.isEmpty ?? true else { return nil }
            throw ProviderTokenError(.badCertificate, "the client certificate belongs to no sender of this gateway")
        case .revoked: throw ProviderTokenError(.badCertificate, "the client certificate is revoked")
        case .wrongEnvironment:
            throw ProviderTokenError(
                .badCertificateEnvironment,
                "the client certificate is for another environment than its apps"
            )
        }
    }

    /// The device token; nil if the push is to none.
    @inline(__always)
    private mutating func token(of target: PushTarget, _ push: borrowing PushContext) -> BatchTokens.Token? {
        guard case .device(let range) = target else { return nil }
        return self.deviceTokens.token(of: push.number, range.bounds, in: push.bytes)
    }

    /// Judges the headers and the length of the body.
    private static func validate(
        _ authorized: borrowing AuthorizedPush,
        _ push: borrowing PushContext,
        tokenIsHex: Bool?,
        _ limits: PushLimits
    ) throws(RejectionAnswer) -> ValidatedPush {
        let rejection: Rejection
        do throws(Rejection) {
            let head = try PushValidation.afterCredentials(
                push.head,
                in: push.bytes,
                target: authorized.target,
                place: authorized.place,
                bodyBytes: push.bodyBytes,
                tokenIsHex: tokenIsHex,
                limits: limits
            )
            guard head.type == .location, authorized.sender.keyID == nil else { return head }
            rejection = .forbidden
        } catch {
            rejection = error
        }
        let sentence = rejection == .forbidden ? "pushes of this type need a provider token" : ""
        throw RejectionAnswer(ProviderTokenError(rejection, sentence), about: push)
    }

    /// Refuses an action outside a sender's rights: `Forbidden`.
    static func check(_ action: SenderAction, of sender: Sender) throws(ProviderTokenError) {
        guard sender.actions.contains(SenderActions(action)) else {
            throw ProviderTokenError(.forbidden, "the key is not for requests of this kind")
        }
    }

    /// The sender that a provider token speaks for, its age not yet checked.
    mutating func verified(_ push: borrowing PushContext) throws(ProviderTokenError) -> VerifiedSender {
        let authorization = push.bytes.extracting((push.head.authorization ?? .empty).bounds)
        self.forgetTokensOfOldKeys()
        if let verified = self.tokens.value(for: authorization, guess: &self.latestToken) { return verified }
        let connection = push.state
        if let fault = connection.refusal(of: authorization, generation: self.generation) { throw fault }
        guard !connection.refusedCredentials.isExhausted else {
            throw ProviderTokenError(
                .tooManyProviderTokenUpdates,
                "too many tokens on this connection were refused; open another connection"
            )
        }
        do throws(ProviderTokenError) {
            return try self.identified(authorization)
        } catch {
            if error.rejection == .invalidProviderToken {
                connection.refuse(authorization, error, generation: self.generation)
            }
            throw error
        }
    }

    /// The sender that a token speaks for which is not remembered.
    private mutating func identified(_ authorization: Span<UInt8>) throws(ProviderTokenError) -> VerifiedSender {
        let token = try ProviderToken.parse(authorization: authorization, reader: self.reader)
        self.verifications += 1
        let identified = try self.senders.identify(token)
        let verified = VerifiedSender(sender: self.own(identified.sender), times: identified.times)
        self.tokens.insert(verified, for: authorization)
        return verified
    }

    /// This event loop's own copy of a sender that all loops share.
    private mutating func own(_ shared: Sender) -> Sender {
        guard let key = shared.keyID else { return shared }
        if let known = self.ownSenders[key], known.shared === shared { return known.own }
        let own = Sender(copying: shared)
        self.ownSenders[key] = (shared, own)
        return own
    }

    /// Other keys may say otherwise of tokens that were verified, and one that is gone says nothing any more.
    private mutating func forgetTokensOfOldKeys() {
        let generation = self.senders.keys.generation
        guard generation != self.generation else { return }
        self.generation = generation
        self.tokens.removeAll()
        self.ownSenders = [:]
    }
}

extension RejectionAnswer {
    init(_ fault: ProviderTokenError) {
        self.init(fault.rejection, detail: fault.sentence.isEmpty ? nil : fault.sentence)
    }

    /// With a sentence about the head, where the fault has none of its own.
    fileprivate init(_ fault: ProviderTokenError, about push: borrowing PushContext) {
        let own = fault.sentence.isEmpty ? nil : fault.sentence
        let advice = own ?? PushAdvice.sentence(about: fault.rejection, push.head, in: push.bytes)
        self.init(fault.rejection, detail: advice)
    }
}

// MARK: - The body, and the device token

extension PushJudge {
    private func details(
        _ body: Span<UInt8>,
        isTargeted: Bool,
        _ app: ServedApps.App
    ) throws(RejectionAnswer) -> JudgedPush.Details {
        let payload: PushPayload
        do throws(PayloadError) {
            payload = try PushPayload.parse(body, isTargeted: isTargeted, reader: self.reader)
        } catch {
            throw RejectionAnswer(.badPayload, detail: error.description)
        }
        return JudgedPush.Details(
            payload: payload,
            pattern: try app.pattern(payload, orElse: .badPayload, limits: self.bounds.patterns),
            attributes: try Self.attributes(payload)
        )
    }

    private static func attributes(_ payload: PushPayload) throws(RejectionAnswer) -> Configuration {
        guard let attributes = payload.attributes else { return .empty }
        do throws(ConfigurationError) {
            return try .attributes(from: attributes)
        } catch {
            throw RejectionAnswer(.badPayload, detail: "freshet.\(error.description)")
        }
    }

    /// The destination of the record.
    private mutating func destination(
        of push: ValidatedPush,
        _ token: BatchTokens.Token?,
        _ app: ServedApps.App,
        _ bytes: Span<UInt8>,
        at now: Instant
    ) throws(RejectionAnswer) -> JudgedPush.Destination {
        guard case .device(let range) = push.target, let token else { return .app }
        let standing = self.deviceTokens.find(token, of: app.number, in: self.directory, into: &self.room)
        if case .bound = standing {
        } else if !self.directory.isWhole {
            return .sought(DeviceToken(bytes: DeviceToken.decode(hex: bytes.extracting(range.bounds)) ?? []))
        }
        try Self.check(standing, isOfControl: self.room.instance != nil, push.type, app, at: now)
        if case .bound = standing { return .host(exchange(&self.room, with: HostPlace())) }
        // Logged like any push, and matches nothing.
        let unknown = DeviceToken(bytes: DeviceToken.decode(hex: bytes.extracting(range.bounds)) ?? [])
        return .unknownHost(HostKey(app: app.bundle, id: HostID(derivedFrom: unknown)))
    }

    /// Refuses a push to a token that is not of its app and type, or of no host.
    ///
    /// - Parameters:
    ///   - isOfControl: Whether a token that is bound is a control's.
    ///   - now: When the push came.
    static func check(
        _ standing: TokenStanding,
        isOfControl: Bool,
        _ type: PushType,
        _ app: ServedApps.App,
        at now: Instant
    ) throws(RejectionAnswer) {
        switch standing {
        case .bound(let isOfApp):
            guard isOfApp else { throw Self.ofAnotherApp }
            guard (type == .controls) == isOfControl else {
                let whose =
                    type == .controls
                    ? "a host's, and takes no pushes of type controls"
                    : "a control's, and takes only pushes of type controls"
                throw RejectionAnswer(.deviceTokenNotForTopic, detail: "the push token is \(whose)")
            }
        case .removed(let isOfApp, let reason, let at):
            guard isOfApp else { throw Self.ofAnotherApp }
            guard !reason.isUnderWay(since: at, now: now) else { throw RejectionAnswer(Problem.tokenMoves) }
            throw RejectionAnswer(reason == .leaseEnded ? .expiredToken : .unregistered, timestamp: at)
        case .unknown:
            guard app.acceptsUnknownTokens else {
                throw RejectionAnswer(.badDeviceToken, detail: "no host is registered with this push token")
            }
        }
    }

    private static let ofAnotherApp = RejectionAnswer(
        .deviceTokenNotForTopic,
        detail: "the push token belongs to another app than the topic"
    )
}
