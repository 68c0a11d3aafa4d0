package import APNSWire
import Engine
import HTTP2
import HTTPTransport
import IntentMatching
package import WidgetModel

/// Judges pushes: every check of the push contract, in the order of ``PushRule``, from a request's bytes to the
/// destination of its record.
///
/// One per event loop. Knows no socket and no clock; what it changes is the cache of verified tokens and the binding of
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
    /// The number of the token that came last.
    private var latestToken = 0
    /// Of the keys that the remembered tokens were verified with.
    private var generation: UInt64
    /// The device token of the push at hand.
    private var token = TokenWords()
    /// Those of the batch that it came in, if they were read together.
    private var batchTokens = BatchTokens()
    /// Where the push that was judged last goes, if its destination is a host.
    package private(set) var place = HostPlace()
    /// How many signatures were checked: a token that was verified before costs none.
    package private(set) var verifications = 0

    /// - Parameters:
    ///   - apps: The apps that are served, and within what bounds, while that changes.
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
        self.batchTokens.read(batch, self.directory)
    }

    /// Judges one push.
    ///
    /// - Parameters:
    ///   - head: Its head, noted from the header fields.
    ///   - bytes: What the ranges of the head lie in.
    ///   - body: Where in the bytes the body is.
    ///   - isTooLarge: Whether there was more of the body than the listener takes.
    ///   - number: Its place in the batch whose tokens were read, nil if it came alone.
    ///   - connection: What is remembered of the connection it came over.
    /// - Throws: What is answered: the first rule that it breaks.
    package mutating func judge(
        _ head: PushRequestHead,
        in bytes: Span<UInt8>,
        body: Range<Int>,
        isTooLarge: Bool = false,
        number: Int? = nil,
        on connection: PushConnection,
        at now: Instant
    ) throws(RejectionAnswer) -> JudgedPush {
        self.refreshApps()
        let sender: Sender
        let push: ValidatedPush
        do throws(ProviderTokenFault) {
            let bodyBytes = isTooLarge ? .max : body.count
            (sender, push) = try self.judgeHead(head, bytes, bodyBytes, number, connection, now)
        } catch {
            throw RejectionAnswer(error, about: head, in: bytes)
        }
        // Behind the credentials: a sender that was verified under newer tables finds its apps here.
        self.refreshApps()
        let app = self.apps[number: push.app]
        if !PushTypeSet.widgetKit.contains(push.type) {
            return JudgedPush(sender: sender, app: app, push: push, destination: .upstream, details: nil)
        }
        let isPlain = !push.isTargeted && PushPayload.isPlain(bytes.extracting(body))
        let details = isPlain ? nil : try self.details(bytes.extracting(body), isTargeted: push.isTargeted, app)
        return JudgedPush(
            sender: sender,
            app: app,
            push: push,
            destination: try self.destination(push, app, bytes),
            details: details
        )
    }

    /// Judges a push whose body has not come: its method, path and credentials, as ``judge(_:in:body:isTooLarge:number:on:at:)``
    /// does, which also judges what its connection carried before.
    ///
    /// - Returns: How long its body may be.
    package mutating func judgeHead(
        _ head: PushRequestHead,
        in bytes: Span<UInt8>,
        on connection: PushConnection,
        at now: Instant
    ) throws(RejectionAnswer) -> Int {
        self.refreshApps()
        do throws(ProviderTokenFault) {
            let target: PushTarget
            do throws(Rejection) {
                target = try PushValidation.beforeCredentials(head, in: bytes)
            } catch {
                throw ProviderTokenFault(error, "")
            }
            try self.checkCredentials(head, bytes, connection, now)
            return self.bounds.intake.push(target).bodyBytesMax
        } catch {
            throw RejectionAnswer(error, about: head, in: bytes)
        }
    }

    /// Refuses credentials for what they are themselves. Remembers nothing of the connection.
    mutating func checkCredentials(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ connection: PushConnection,
        _ now: Instant
    ) throws(ProviderTokenFault) {
        guard try self.sender(of: connection.certificate, head) == nil else { return }
        try self.senders.check(try self.verified(head, bytes, on: connection), now: now)
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

    /// Everything but the body's contents and what is known of the device token.
    private mutating func judgeHead(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ bodyBytes: Int,
        _ number: Int?,
        _ connection: PushConnection,
        _ now: Instant
    ) throws(ProviderTokenFault) -> (Sender, ValidatedPush) {
        let target: PushTarget
        do throws(Rejection) {
            target = try PushValidation.beforeCredentials(head, in: bytes)
        } catch {
            throw ProviderTokenFault(error, "")
        }
        if let sender = try self.sender(of: connection.certificate, head) {
            let place = PushPlace(head, in: bytes, target: target, topics: sender.topics)
            return (sender, try self.judgeRest(head, bytes, target, place, bodyBytes, number, sender))
        }
        let token = try self.verified(head, bytes, on: connection)
        let place = PushPlace(head, in: bytes, target: target, topics: token.sender.topics)
        try self.check(token, on: connection, isOfOtherEnvironment: place.isOfOtherEnvironment, now)
        return (token.sender, try self.judgeRest(head, bytes, target, place, bodyBytes, number, token.sender))
    }

    /// The sender that the client certificate speaks for; nil if a provider token has to say who it is.
    func sender(
        of certificate: CertificateStanding?,
        _ head: PushRequestHead
    ) throws(ProviderTokenFault) -> Sender? {
        guard let verdict = certificate?.verdict else { return nil }
        switch verdict {
        case .sender(let sender): return sender
        case .unknown:
            guard head.authorization?.isEmpty ?? true else { return nil }
            throw ProviderTokenFault(.badCertificate, "the client certificate speaks for no sender of this gateway")
        case .revoked: throw ProviderTokenFault(.badCertificate, "the client certificate is revoked")
        case .wrongEnvironment:
            throw ProviderTokenFault(
                .badCertificateEnvironment,
                "the client certificate is for the other environment than its apps"
            )
        }
    }

    /// Refuses a token for what it is itself, or for what came over the connection before; remembers it for what follows.
    ///
    /// - Parameter isOfOtherEnvironment: Whether its key is for the other environment than the app of the request.
    func check(
        _ token: VerifiedSender,
        on connection: PushConnection,
        isOfOtherEnvironment: Bool,
        _ now: Instant
    ) throws(ProviderTokenFault) {
        let isLatest = connection.binding.isLatest(token)
        do throws(Rejection) {
            if !isLatest, self.senders.bindsConnections {
                try connection.binding.check(token.sender)
            }
            guard !isOfOtherEnvironment else { throw .badEnvironmentKeyInToken }
        } catch {
            throw ProviderTokenFault(error, Self.sentence(error))
        }
        try self.senders.check(token, now: now)
        guard !isLatest else { return }
        do throws(Rejection) {
            try connection.binding.admit(token, now: now, updates: self.senders.updates)
        } catch {
            throw ProviderTokenFault(error, Self.sentence(error))
        }
    }

    private mutating func judgeRest(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ target: PushTarget,
        _ place: PushPlace,
        _ bodyBytes: Int,
        _ number: Int?,
        _ sender: Sender
    ) throws(ProviderTokenFault) -> ValidatedPush {
        try self.check(target.action, of: sender)
        let isHex = self.readToken(target, bytes, number)
        do throws(Rejection) {
            let push = try PushValidation.afterCredentials(
                head,
                in: bytes,
                target: target,
                place: place,
                bodyBytes: bodyBytes,
                tokenIsHex: isHex,
                limits: self.bounds.intake.push(target)
            )
            let isLate = push.type == .location && sender.keyID == nil
            guard !isLate else { throw .forbidden }
            return push
        } catch {
            throw ProviderTokenFault(error, error == .forbidden ? "pushes of this type take a provider token" : "")
        }
    }

    /// Reads the device token for its check and its look-up, if it was not read with the others of its batch.
    ///
    /// - Returns: Whether it is hex; nil if the push is to no token.
    @inline(__always)
    private mutating func readToken(_ target: PushTarget, _ bytes: Span<UInt8>, _ number: Int?) -> Bool? {
        guard case .device(let range) = target else { return nil }
        let digits = bytes.extracting(range.bounds)
        if let number, let isHex = self.batchTokens.take(number, range.bounds, into: &self.token) {
            if isHex { return true }
        } else if self.token.decode(hex: digits) {
            return true
        }
        // Only where the rule that refuses it is not in force does it go on, as a token without a host.
        self.token = TokenWords()
        return digits.isEmpty
    }

    /// Refuses what a sender is not for: `Forbidden`.
    func check(_ action: SenderActions, of sender: Sender) throws(ProviderTokenFault) {
        guard sender.actions.contains(action) else {
            throw ProviderTokenFault(.forbidden, "the key is not for requests of this kind")
        }
    }

    /// The sender that a provider token speaks for, its age not yet checked.
    mutating func verified(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        on connection: PushConnection
    ) throws(ProviderTokenFault) -> VerifiedSender {
        let authorization = bytes.extracting((head.authorization ?? .empty).bounds)
        self.forgetTokensOfOldKeys()
        if let verified = self.tokens.value(for: authorization, guess: &self.latestToken) { return verified }
        if let fault = connection.refusal(of: authorization, generation: self.generation) { throw fault }
        guard !connection.refusedCredentials.isExhausted else {
            throw ProviderTokenFault(
                .tooManyProviderTokenUpdates,
                "too many tokens of this connection were refused; open another one"
            )
        }
        do throws(ProviderTokenFault) {
            return try self.identified(authorization)
        } catch {
            if error.rejection == .invalidProviderToken {
                connection.refuse(authorization, error, generation: self.generation)
            }
            throw error
        }
    }

    /// The sender that a token speaks for which is not remembered.
    private mutating func identified(_ authorization: Span<UInt8>) throws(ProviderTokenFault) -> VerifiedSender {
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

    /// What a person is told who wonders about a token that is in order by itself.
    private static func sentence(_ rejection: Rejection) -> String {
        switch rejection {
        case .invalidProviderToken: "the connection carries the pushes of another team; open another one"
        case .unrelatedKeyIDInToken: "the connection carries the pushes of another key; open another one"
        case .badEnvironmentKeyInToken: "the key is not for the environment of the app"
        case .tooManyProviderTokenUpdates: "the token was renewed too soon; use one for at least 20 minutes"
        default: ""
        }
    }
}

extension RejectionAnswer {
    init(_ fault: ProviderTokenFault) {
        self.init(fault.rejection, detail: fault.sentence.isEmpty ? nil : fault.sentence)
    }

    /// With a sentence about the head, where the fault has none of its own.
    init(_ fault: ProviderTokenFault, about head: PushRequestHead, in bytes: Span<UInt8>) {
        let own = fault.sentence.isEmpty ? nil : fault.sentence
        self.init(fault.rejection, detail: own ?? PushAdvice.sentence(about: fault.rejection, head, in: bytes))
    }
}

extension PushTarget {
    /// What a sender has to be for.
    fileprivate var action: SenderActions {
        switch self {
        case .device: .devices
        case .targeted: .targeted
        }
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
        do throws(PayloadFault) {
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
        do throws(ConfigurationFault) {
            return try .attributes(from: attributes)
        } catch {
            throw RejectionAnswer(.badPayload, detail: "freshet.\(error.description)")
        }
    }

    /// Whom the record is for.
    private mutating func destination(
        _ push: ValidatedPush,
        _ app: ServedApps.App,
        _ bytes: Span<UInt8>
    ) throws(RejectionAnswer) -> JudgedPush.Destination {
        guard case .device(let range) = push.target else { return .app }
        if try self.isBound(push.type, app) { return .host }
        // An unknown token where the app accepts those: logged like any push, and matches nothing.
        let digits = bytes.extracting(range.bounds)
        let token = DeviceToken(bytes: DeviceToken.decode(hex: digits) ?? [])
        return .unknownHost(HostKey(app: app.bundle, id: HostID(derivedFrom: token)))
    }

    /// Whether the token stands for a host or control; false if it is unknown and the app accepts that.
    private mutating func isBound(_ type: PushType, _ app: ServedApps.App) throws(RejectionAnswer) -> Bool {
        switch self.directory.find(self.token, of: app.number, into: &self.place) {
        case .bound(let isOfApp):
            guard isOfApp else { throw Self.ofAnotherApp }
            guard (type == .controls) == (self.place.instance != nil) else {
                let whose =
                    type == .controls
                    ? "a host's, which takes no controls pushes" : "a control's, which takes no others"
                throw RejectionAnswer(.deviceTokenNotForTopic, detail: "the push token is \(whose)")
            }
            return true
        case .removed(let isOfApp, let reason, let at):
            guard isOfApp else { throw Self.ofAnotherApp }
            throw RejectionAnswer(reason == .leaseEnded ? .expiredToken : .unregistered, timestamp: at)
        case .unknown:
            guard app.acceptsUnknownTokens else {
                throw RejectionAnswer(.badDeviceToken, detail: "no host is registered with this push token")
            }
            return false
        }
    }

    private static let ofAnotherApp = RejectionAnswer(
        .deviceTokenNotForTopic,
        detail: "the push token is of another app than the topic"
    )
}
