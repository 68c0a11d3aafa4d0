package import APNSWire
package import WidgetModel

/// Requests about channels: credentials and connections are judged as those of pushes are.
extension PushJudge {
    /// Judges one request, in the order of ``ChannelCheck``.
    ///
    /// - Parameters:
    ///   - head: Its head, noted from the header fields.
    ///   - own: The headers that only requests about channels have.
    ///   - bytes: What the ranges of the heads lie in.
    ///   - body: Where in the bytes the body is.
    ///   - isTooLarge: Whether there was more of the body than the listener takes.
    ///   - takesBroadcasts: Whether broadcasts are taken, or only what manages channels.
    ///   - connection: What is remembered of the connection it came over.
    /// - Throws: What is answered: the first check that fails.
    package mutating func judge(
        _ head: PushRequestHead,
        _ own: ChannelRequestHead,
        in bytes: Span<UInt8>,
        body: Range<Int>,
        isTooLarge: Bool = false,
        takesBroadcasts: Bool = true,
        on connection: PushConnection,
        at now: Instant
    ) throws(RejectionAnswer) -> JudgedChannelRequest {
        let sender: Sender
        let app: ServedApps.App
        let request: ChannelRequest
        do throws(ProviderTokenFault) {
            let route = try Self.route(head, own, bytes, takesBroadcasts, connection)
            sender = try self.sender(head, bytes, route, connection, now)
            do throws(Rejection) {
                let id = try ChannelValidation.requestID(head, own, in: bytes)
                let number = try ChannelValidation.app(route, in: bytes, topics: sender.topics)
                self.refreshApps()
                app = self.apps[number: number]
                guard app.broadcastExpiration != nil else { throw .featureNotEnabled }
                request = try ChannelValidation.request(
                    head,
                    own,
                    in: bytes,
                    route: route,
                    app: number,
                    id: id,
                    bodyBytes: isTooLarge ? .max : body.count
                )
            } catch {
                throw ProviderTokenFault(error, "")
            }
        } catch {
            throw RejectionAnswer(error)
        }
        let text = bytes.extracting(body)
        return JudgedChannelRequest(
            sender: sender,
            app: app,
            request: request,
            body: try self.parse(text, for: request.operation)
        )
    }

    /// Judges a request whose body has not come: its path, method and credentials.
    package mutating func judgeHead(
        _ head: PushRequestHead,
        _ own: ChannelRequestHead,
        in bytes: Span<UInt8>,
        takesBroadcasts: Bool,
        on connection: PushConnection,
        at now: Instant
    ) throws(RejectionAnswer) {
        do throws(ProviderTokenFault) {
            _ = try Self.route(head, own, bytes, takesBroadcasts, connection)
            try self.checkCredentials(head, bytes, connection, now)
        } catch {
            throw RejectionAnswer(error)
        }
    }

    private static func route(
        _ head: PushRequestHead,
        _ own: ChannelRequestHead,
        _ bytes: Span<UInt8>,
        _ takesBroadcasts: Bool,
        _ connection: PushConnection
    ) throws(ProviderTokenFault) -> ChannelRoute {
        do throws(Rejection) {
            let hasCertificate = connection.certificate != nil
            let route = try ChannelValidation.beforeCredentials(head, own, in: bytes, hasCertificate: hasCertificate)
            if !takesBroadcasts, case .broadcast = route { throw .badPath }
            return route
        } catch {
            throw ProviderTokenFault(error, "")
        }
    }

    /// Whose request it is.
    private mutating func sender(
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ route: ChannelRoute,
        _ connection: PushConnection,
        _ now: Instant
    ) throws(ProviderTokenFault) -> Sender {
        if let sender = try self.sender(of: connection.certificate, head) { return sender }
        let token = try self.verified(head, bytes, on: connection)
        let topics = token.sender.topics
        let isOther = ChannelValidation.isOfOtherEnvironment(route, in: bytes, topics: topics)
        try self.check(token, on: connection, isOfOtherEnvironment: isOther, now)
        try self.check(.channels, of: token.sender)
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
