import APNSWire
import Engine
import HTTP2
import HTTPTransport
import NIOCore
import Partitions
import Serving
import WidgetModel

/// Broadcasts and the management of channels: credentials, order of checks and limits are those of pushes.
extension PushHandler {
    /// The place of an answer.
    private struct ChannelCaller {
        let pending: PendingAnswer
        /// The methods that the path takes, for `allow`.
        let allowed: String

        init(_ push: borrowing PushContext, _ route: ChannelRoute?, id: [UInt8]) {
            self.pending = PendingAnswer(push, id: id)
            self.allowed = route.map { "\($0.path.allowed)" } ?? ""
        }
    }

    func receiveChannelRequest(_ push: borrowing PushContext, _ route: ChannelRoute?) {
        let (own, id, text) = self.channelRequestID(push)
        let caller = ChannelCaller(push, route, id: text)
        do throws(RejectionAnswer) {
            let judged = try self.intake.judge.judge(own, push, route)
            try self.services.senderLimits.admit(
                judged.sender,
                judged.app.meter,
                nil,
                .targeted(bundle: .empty, isDryRun: false),
                in: push.bytes,
                beside: 0,
                isLogged: judged.isNew,
                at: push.now
            )
            self.perform(judged, id, push.now, caller)
        } catch {
            self.answer(.failure(error), caller)
        }
    }

    /// Judges a request about channels whose body has not come.
    func judgeChannelRequest(_ push: borrowing PushContext, _ route: ChannelRoute?) {
        let (own, _, text) = self.channelRequestID(push)
        do throws(RejectionAnswer) {
            self.limitBody(of: push, on: try self.intake.judge.judgeHead(own, push, route))
        } catch {
            self.answer(.failure(error), ChannelCaller(push, route, id: text))
        }
    }

    /// The headers that only requests about channels have, the request's id or a new one, and how that is written back.
    func channelRequestID(_ push: borrowing PushContext) -> (own: ChannelRequestHead, id: PushID, text: [UInt8]) {
        var own = ChannelRequestHead()
        let fields = push.fields
        for index in fields.indices {
            let field = fields[index]
            own.receive(name: push.bytes.extracting(field.name.indices), value: field.value.wire)
        }
        let given = try? ChannelValidation.requestID(push.head, own, in: push.bytes)
        let id = given ?? self.intake.ids.next()
        let text = given == nil ? AnswerID.generated(id) : .given((own.requestID ?? push.head.id ?? .empty).bounds)
        return (own, id, text.text(push.bytes))
    }

    private func perform(_ judged: JudgedChannelRequest, _ id: PushID, _ now: Instant, _ caller: ChannelCaller) {
        let services = self.services
        let bound = NIOLoopBound((handler: self, caller: caller), eventLoop: self.loop)
        let promise = self.loop.makePromise(of: Result<ChannelReply, RejectionAnswer>.self)
        services.senderLimits.backlog.add(1)
        promise.completeWithTask { await Self.reply(to: judged, id, now, services) }
        promise.futureResult.whenComplete { result in
            let (handler, caller) = bound.value
            handler.services.senderLimits.backlog.remove(1)
            switch result {
            case .success(let reply): handler.answer(reply, caller)
            case .failure: handler.answer(.failure(RejectionAnswer(.internalServerError)), caller)
            }
            caller.pending.connection.flush()
        }
    }

    private static func reply(
        to judged: JudgedChannelRequest,
        _ id: PushID,
        _ now: Instant,
        _ services: PushServices
    ) async -> Result<ChannelReply, RejectionAnswer> {
        let (channels, app, isAlias) = (services.channels, judged.app, judged.request.isAlias)
        do throws(RejectionAnswer) {
            switch (judged.request.operation, judged.body) {
            case (.create, .creation(let creation)): return .success(try await channels.create(creation, app: app))
            case (.read(let channel), _): return .success(try await channels.read(channel, app: app, isAlias: isAlias))
            case (.delete(let channel), _):
                return .success(try await channels.delete(channel, app: app, isAlias: isAlias))
            case (.list, _): return .success(try await channels.list(app: app))
            case (.broadcast(let channel, let message), .broadcast(let body, let hash)):
                let broadcast = ChannelService.Broadcast(
                    id: id,
                    team: judged.sender.team,
                    key: judged.sender.keyID,
                    channel: channel,
                    message: message,
                    bodyHash: hash,
                    payload: body.own
                )
                return .success(try await Self.send(broadcast, app, now, services))
            case (.create, _), (.broadcast, _):
                preconditionFailure("a request that needs a body was given one")
            }
        } catch {
            return .failure(error)
        }
    }

    private static func send(
        _ broadcast: ChannelService.Broadcast,
        _ app: ServedApps.App,
        _ now: Instant,
        _ services: PushServices
    ) async throws(RejectionAnswer) -> ChannelReply {
        let record = try await services.channels.record(of: broadcast, app: app, now: now)
        let charges: WorkCharges
        let limits: [Int]?
        do throws(Problem) {
            let matchedMax = PushIntake.smaller(broadcast.payload.maxMatched, app.matchedMax)
            (charges, limits) = try await services.admit(record, app, matchedMax: matchedMax)
        } catch {
            switch error.code {
            case .tooManyMatched: services.counters.add(tooManyMatched: 1)
            case .tooMuchWork: break
            default: throw RejectionAnswer(error)
            }
            return ChannelReply(status: error.code.status, body: error.json.jsonText, contentType: .problem)
        }
        try await services.channels.append(record, limits: limits, charges, services.work)
        app.pushedKinds.noteKind(record.kind)
        services.counters.add(accepted: 1)
        return ChannelReply(status: 200)
    }

    private func answer(_ result: Result<ChannelReply, RejectionAnswer>, _ caller: ChannelCaller) {
        self.fields.removeAll()
        self.fields.append(name: "apns-request-id", value: caller.pending.id.span, indexed: false)
        switch result {
        case .success(let reply):
            if let channel = reply.channel {
                self.fields.append(name: "apns-channel-id", value: channel.rawValue, indexed: false)
            }
            if !reply.body.isEmpty { self.fields.append(name: "content-type", value: reply.contentType.rawValue) }
            self.send(reply.status, reply.body, caller.pending)
        case .failure(let answer):
            self.count(answer.rejection)
            self.fields.append(name: "content-type", value: "application/json")
            if let seconds = answer.retryAfter { self.fields.append(name: "retry-after", value: String(seconds)) }
            // RFC 9110, 15.5.6: a 405 names the allowed methods.
            if answer.rejection == .methodNotAllowed { self.fields.append(name: "allow", value: caller.allowed) }
            self.send(answer.status, answer.body, caller.pending)
        }
    }
}

extension PushServices {
    /// The charges of a push to an app: for the most that it may match, or, where that is asked for, for its real matches; and how many
    /// instances it may match in each partition.
    ///
    /// - Throws: ``Problem/overShare(retryAfter:)``, ``Problem/tooMuchWork(_:)`` or ``Problem/tooMany(_:over:)``, or why the
    ///   partitions do not answer.
    fileprivate func admit(_ push: PushRecord, _ app: ServedApps.App, matchedMax: Int?) async throws(Problem)
        -> (charges: WorkCharges, limits: [Int]?)
    {
        var limits: [Int]?
        guard let work = self.work, let team = app.work else {
            if let matchedMax { limits = try await self.log.matched(push, atMost: matchedMax).limits }
            return (WorkCharges(), limits)
        }
        var units = work.bounds(app: app.bundle, push.kind, push.pattern)
        if matchedMax != nil || work.isToBeAsked(app: app.bundle, push.kind, push.pattern) {
            let question = try work.admit(
                questionAbout: push.kind,
                push.pattern,
                of: team,
                app.bundle,
                pushMax: app.pushMax,
                decidedMax: 0
            )
            defer { work.end(question) }
            let matched = try await self.log.matched(push, atMost: matchedMax)
            limits = matched.limits
            units = work.estimates(matched.counts, app: app.bundle, push.kind, push.pattern)
        }
        return (try work.admit(units, of: team, pushMax: app.pushMax), limits)
    }
}
