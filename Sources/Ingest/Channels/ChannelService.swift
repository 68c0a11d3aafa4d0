package import APNSWire
package import Engine
import IntentMatching
package import Journaling
package import Partitions
package import Serving
package import WidgetModel

/// Creates, reads, lists and deletes the channels of apps, and turns a broadcast into a targeted push.
///
/// An app's channels are state of one partition, the app's home. A broadcast asks it for the channel and is then a push
/// record like any other for every partition, with the channel's pattern in it; deleting a channel does not take back
/// the broadcasts that were accepted before.
package struct ChannelService: Sendable {
    private let log: CommandLog
    private let journal: any Journal
    private let apps: LiveApps

    /// - Parameters:
    ///   - log: For commands whose answer is needed.
    ///   - journal: For broadcasts, which are answered when they are durable.
    ///   - apps: Says how many channels an app may have.
    package init(log: CommandLog, journal: any Journal, apps: LiveApps) {
        self.log = log
        self.journal = journal
        self.apps = apps
    }

    // MARK: Managing

    /// Creates a channel; answered once it can be used.
    package func create(_ creation: ChannelCreation, app: ServedApps.App) async throws(RejectionAnswer) -> ChannelReply
    {
        if let audience = creation.audience {
            _ = try app.pattern(audience, orElse: .badRequestParams, limits: self.apps.bounds.patterns)
        }
        let channel = Channel(
            id: ChannelIDGenerator.next(),
            storagePolicy: creation.storesMessages ? .mostRecent : .none,
            pushType: creation.isForWidgets ? .widgets : .liveActivity,
            definition: creation.audience.map { ($0.own ?? .object([])).jsonText }
        )
        let channelsMax = self.apps.bounds.channelsMax
        let command = ChannelCommand.create(channel, app: app.bundle, channelsMax: channelsMax)
        guard try await self.append(command, app) == .created else {
            let detail = "the app has \(channelsMax) channels; delete some, or raise limits.maxChannelsPerApp"
            throw RejectionAnswer(.cannotCreateChannelConfig, detail: detail)
        }
        var reply = ChannelReply(status: 201, channel: channel.id)
        // APNs answers without a body; APNSwift cannot read that.
        if creation.isAlias { reply.body = Self.json(channel, withID: true) }
        return reply
    }

    package func read(
        _ id: ChannelID,
        app: ServedApps.App,
        isAlias: Bool
    ) async throws(RejectionAnswer) -> ChannelReply {
        let channel = try await self.find(id, app)
        return ChannelReply(status: 200, body: Self.json(channel, withID: isAlias))
    }

    /// Deletes a channel. Broadcasts that were accepted before are delivered.
    package func delete(
        _ id: ChannelID,
        app: ServedApps.App,
        isAlias: Bool
    ) async throws(RejectionAnswer) -> ChannelReply {
        guard try await self.append(.delete(id, app: app.bundle), app) == .deleted else {
            throw RejectionAnswer(.channelNotRegistered)
        }
        // APNs answers 204; APNSwift takes only 200 and 201, with a body.
        return isAlias ? ChannelReply(status: 200, body: Array("{}".utf8)) : ChannelReply(status: 204)
    }

    package func list(app: ServedApps.App) async throws(RejectionAnswer) -> ChannelReply {
        let channels = try await self.channels(of: app)
        let json = JSONValue.object(of: [("channels", .array(channels.map { .string($0.id.rawValue) }))])
        return ChannelReply(status: 200, body: json.jsonText)
    }

    /// A channel as it is read: APNs' members, the id for APNSwift, and the definition, if it has one.
    private static func json(_ channel: Channel, withID: Bool) -> [UInt8] {
        JSONValue.object(of: [
            ("channel-id", withID ? .string(channel.id.rawValue) : nil),
            ("message-storage-policy", .count(Int(channel.storagePolicy.rawValue))),
            ("push-type", .string(channel.pushType == .widgets ? "widgets" : "LiveActivity")),
            ("freshet", channel.definition.flatMap { try? JSONReader().parse($0) }),
        ]).jsonText
    }

    // MARK: Broadcasting

    /// A broadcast, ready to be looked up.
    package struct Broadcast: Sendable {
        package let id: PushID
        package let team: TeamID
        package let key: KeyID?
        package let channel: ChannelID
        package let message: ChannelRequest.Message
        /// A hash of the body.
        package let bodyHash: UInt64
        package let payload: PushPayload

        package init(
            id: PushID,
            team: TeamID,
            key: KeyID? = nil,
            channel: ChannelID,
            message: ChannelRequest.Message,
            bodyHash: UInt64,
            payload: PushPayload
        ) {
            self.id = id
            self.team = team
            self.key = key
            self.channel = channel
            self.message = message
            self.bodyHash = bodyHash
            self.payload = payload
        }

        /// The same id on another channel, or with other headers or content, is another push.
        fileprivate var contentHash: UInt64 {
            var hash = StableHash()
            hash.combine(self.channel.rawValue)
            hash.combine(
                UInt64(self.message.priority?.rawValue ?? 0xFF) << 1 | (self.message.expiration == nil ? 0 : 1)
            )
            hash.combine(UInt64(bitPattern: self.message.expiration ?? 0))
            hash.combine(self.bodyHash)
            return hash.value
        }
    }

    /// The targeted push that a broadcast is.
    ///
    /// - Throws: `ChannelNotRegistered`, or `BadExpirationDate` for one that is to wait on a channel without storage.
    package func record(
        of broadcast: Broadcast,
        app: ServedApps.App,
        now: Instant
    ) async throws(RejectionAnswer) -> PushRecord {
        let channel = try await self.find(broadcast.channel, app)
        let audience = try Self.audience(of: channel)
        return PushRecord(
            id: broadcast.id,
            team: broadcast.team,
            key: broadcast.key,
            contentHash: broadcast.contentHash,
            priority: broadcast.message.priority,
            expiration: try Self.expiration(of: broadcast, channel, app, now: now),
            // The most recent message takes the place of the one that still waits.
            collapseID: channel.storagePolicy == .mostRecent
                ? CollapseID(bytes: Array(channel.id.rawValue.utf8)) : nil,
            notBefore: broadcast.payload.notBefore,
            digest: broadcast.payload.digest.map { Array($0.utf8) },
            target: .app(app.bundle),
            kind: audience.kind,
            pattern: audience.pattern
        )
    }

    /// Writes a broadcast to the log of every partition; returns when it is durable.
    ///
    /// - Parameters:
    ///   - limits: How many instances it may match, by partition; nil for any number.
    ///   - charges: The work that it is charged with already.
    ///   - work: Where that is counted.
    package func append(
        _ record: PushRecord,
        limits: [Int]? = nil,
        _ charges: WorkCharges = WorkCharges(),
        _ work: WorkAdmission? = nil
    ) async throws(RejectionAnswer) {
        var builder = SubmissionBuilder(partitions: self.log.partitions)
        builder.appendToAll(record, limits: limits)
        guard let submission = builder.takeToAll() else { return }
        let result: Result<Void, JournalError> = await withCheckedContinuation { continuation in
            let told: @Sendable (Result<Void, JournalError>) -> Void = { result in
                if case .failure = result { work?.end(charges) }
                continuation.resume(returning: result)
            }
            self.journal.appendToAll(submission, whenDurable: told, whenPlaced: { work?.log(charges, at: $0) })
        }
        if case .failure = result { throw Self.unavailable }
    }

    /// The audience of a channel.
    private static func audience(
        of channel: Channel
    ) throws(RejectionAnswer) -> (kind: WidgetKind?, pattern: MatchPattern?) {
        do {
            guard let definition = channel.definition else {
                let tags = JSONValue.array([.string(channel.id.rawValue)])
                return (nil, try MatchPattern.parse(.object([JSONValue.Member(name: "$tags", value: tags)])))
            }
            let payload = try PushPayload(own: try JSONReader().parse(definition))
            // The pattern's cost was judged when the channel was created, perhaps by another limit.
            let limits = PatternLimits(costMax: .max)
            return (payload.kind, try payload.match.map { try MatchPattern.parse($0, limits: limits) })
        } catch {
            // It was checked when the channel was created.
            throw RejectionAnswer(.internalServerError, detail: "the channel's pattern cannot be read: \(error)")
        }
    }

    private static func expiration(
        of broadcast: Broadcast,
        _ channel: Channel,
        _ app: ServedApps.App,
        now: Instant
    ) throws(RejectionAnswer) -> Int64 {
        guard channel.storagePolicy == .mostRecent else {
            guard broadcast.message.expiration ?? 0 == 0 else {
                let detail = "apns-expiration: must be 0, since the channel stores no messages"
                throw RejectionAnswer(.badExpirationDate, detail: detail)
            }
            return 0
        }
        let start = max(now, broadcast.payload.notBefore ?? now)
        let latest = (start + ServedApps.broadcastStorageMax).seconds
        guard let given = broadcast.message.expiration else {
            return min(latest, (start + (app.broadcastExpiration ?? ServedApps.broadcastStorageMax)).seconds)
        }
        return min(latest, given)
    }

    // MARK: The app's home

    private static var unavailable: RejectionAnswer {
        RejectionAnswer(.serviceUnavailable, retryAfter: Problem.retryAfterSeconds)
    }

    private func find(_ id: ChannelID, _ app: ServedApps.App) async throws(RejectionAnswer) -> Channel {
        guard let channel = try await self.channels(of: app, id).first else {
            throw RejectionAnswer(.channelNotRegistered)
        }
        return channel
    }

    private func append(
        _ command: ChannelCommand,
        _ app: ServedApps.App
    ) async throws(RejectionAnswer) -> ChannelAnswer? {
        do throws(Problem) {
            let answer = try await self.log.append(.channel(command), homeOf: app.bundle)
            guard case .channel(let result) = answer else { return nil }
            return result
        } catch {
            throw Self.unavailable
        }
    }

    private func channels(
        of app: ServedApps.App,
        _ id: ChannelID? = nil
    ) async throws(RejectionAnswer) -> [Channel] {
        do throws(Problem) {
            let home = PartitionID(homeOf: app.bundle, among: self.log.partitions)
            return try await self.log.ask(home, ChannelsQuestion(of: app.bundle, id))
        } catch {
            throw Self.unavailable
        }
    }
}
