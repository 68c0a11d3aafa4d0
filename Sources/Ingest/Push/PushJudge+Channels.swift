import APNSWire
import Partitions
import Serving
import WidgetModel

/// Requests about channels: credentials and connections are judged as those of pushes are.
extension PushJudge {
    /// Judges one request, in the order of ``ChannelValidation``.
    ///
    /// - Parameters:
    ///   - own: The headers that only requests about channels have.
    ///   - route: Of its path; nil where the listener has none for it.
    /// - Throws: The answer for the first check that fails.
    mutating func judge(
        _ own: ChannelRequestHead,
        _ push: borrowing PushContext,
        _ route: ChannelRoute?
    ) throws(RejectionAnswer) -> JudgedChannelRequest {
        let sender: Sender
        let app: ServedApps.App
        let request: ChannelRequest
        do throws(ProviderTokenError) {
            let route = try Self.check(route, own, push)
            sender = try self.sender(push, route)
            do throws(Rejection) {
                let id = try ChannelValidation.requestID(push.head, own, in: push.bytes)
                let number = try ChannelValidation.app(route, in: push.bytes, topics: sender.topics)
                self.refreshApps()
                app = self.apps[number: number]
                guard app.broadcastExpiration != nil else { throw .featureNotEnabled }
                request = try ChannelValidation.request(
                    push.head,
                    own,
                    in: push.bytes,
                    route: route,
                    app: number,
                    id: id,
                    bodyBytes: push.bodyBytes
                )
            } catch {
                throw ProviderTokenError(error, "")
            }
        } catch {
            throw RejectionAnswer(error)
        }
        let body = try self.parse(push.body, for: request.operation)
        return JudgedChannelRequest(sender: sender, app: app, request: request, body: body)
    }

    /// Judges a request whose body has not come: its path, method and credentials.
    ///
    /// - Returns: The path, which bounds the body.
    mutating func judgeHead(
        _ own: ChannelRequestHead,
        _ push: borrowing PushContext,
        _ route: ChannelRoute?
    ) throws(RejectionAnswer) -> PushPath {
        do throws(ProviderTokenError) {
            let path = try Self.check(route, own, push).path
            try self.checkCredentials(push)
            return path
        } catch {
            throw RejectionAnswer(error)
        }
    }

    private static func check(
        _ route: ChannelRoute?,
        _ own: ChannelRequestHead,
        _ push: borrowing PushContext
    ) throws(ProviderTokenError) -> ChannelRoute {
        do throws(Rejection) {
            let hasCertificate = push.state.certificate != nil
            return try ChannelValidation.beforeCredentials(route, push.head, own, hasCertificate: hasCertificate)
        } catch {
            throw ProviderTokenError(error, "")
        }
    }

    /// The sender of the request.
    private mutating func sender(
        _ push: borrowing PushContext,
        _ route: ChannelRoute
    ) throws(ProviderTokenError) -> Sender {
        if let sender = try Self.certifiedSender(of: push) { return sender }
        let token = try self.verified(push)
        let topics = token.sender.topics
        let isOther = ChannelValidation.isOfOtherEnvironment(route, in: push.bytes, topics: topics)
        try push.state.admit(token, isOfOtherEnvironment: isOther, by: self.senders, at: push.now)
        try Self.check(route.path.action, of: token.sender)
        return token.sender
    }

    private func parse(
        _ text: Span<UInt8>,
        for operation: ChannelRequest.Operation
    ) throws(RejectionAnswer) -> JudgedChannelRequest.Body {
        switch operation {
        case .create: return .creation(try ChannelCreation.parse(text, reader: self.reader))
        case .broadcast:
            var hash = StableHash()
            hash.combine(text)
            return .broadcast(try BroadcastBody.parse(text, reader: self.reader), hash: hash.value)
        case .read, .delete, .list: return .none
        }
    }
}
