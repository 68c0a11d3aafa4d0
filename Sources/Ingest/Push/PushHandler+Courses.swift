import APNSWire
package import HTTP2
package import HTTPTransport
import Partitions
package import Serving
import WidgetModel

/// The kinds of requests of the push listener, and the requests whose bodies have not come.
extension PushHandler {
    /// The list of its routes, for those who compare it with the documents.
    package static let routes = PushPath.all.flatMap { path in
        path.methods.map { method in
            RouteSummary(
                method: method,
                path: path.description,
                query: path.query.map { ["\($0)"] } ?? [],
                right: "sender (\(path.action.rawValue))",
                body: method == "POST" ? .push(path.body) : .unread
            )
        }
    }

    /// The purpose of a listener.
    package enum Role: Hashable, Sendable {
        /// Pushes and channels, and hosts' requests beside them.
        case pushes
        /// The same where web pages are hosts, too: none of them is a sender.
        case everything
        /// Managing channels, and nothing else: APNs has hosts and ports of their own for that.
        case channelManagement
        /// Targeted pushes beside hosts' requests, for senders that speak HTTP/1.1 only. All else is for other
        /// handlers, which also set the limits of a connection.
        case targetedPushes
    }

    /// The course of a request.
    enum Course {
        /// It is judged as a push, if only to be refused as one.
        case push
        /// Each of its lines is a push to this path.
        case bulk(path: APNSWire.ByteRange)
        /// nil where the listener has no such path.
        case channels(ChannelRoute?)
        /// It did not come whole.
        case unread
        /// No such path.
        case nowhere
        case others
    }

    func course(of push: borrowing PushContext) -> Course {
        if self.role == .targetedPushes, !Self.isTargetedPush(push) { return .others }
        if self.role == .everything, Self.isOfWebPage(push) { return .others }
        // One by one: across targets a set that is written as a literal is made of an array, each time.
        if push.request.flags.contains(.headersTooLarge) || push.request.flags.contains(.timedOut) { return .unread }
        let path = push.request.path.wire
        if self.role != .channelManagement, PushRoute.isBelowDevice(path, in: push.bytes) { return .push }
        switch PushRoute(path: path, in: push.bytes) {
        case .channels(let route):
            let isOfPushes = self.role == .channelManagement && route?.path.kind == .broadcast
            return .channels(isOfPushes ? nil : route)
        case _ where self.role == .channelManagement: return .nowhere
        case .other: return .others
        case .unknown where self.role == .everything && !Self.isOfPushes(push): return .others
        case .bulk(let path): return .bulk(path: path)
        case .device, .missingDeviceToken, .targeted, .unknown: return .push
        }
    }

    /// Whether a request is to the path of pushes to an app, and no web page's: a page is no sender, and browsers show a client
    /// certificate for any of them.
    private static func isTargetedPush(_ push: borrowing PushContext) -> Bool {
        switch PushRoute(path: push.request.path.wire, in: push.bytes) {
        case .targeted, .bulk: break
        // With a query that is not understood, of which it is told.
        case .unknown where push.text(push.request.path).hasPrefix("/v1/apps/"): break
        case .device, .missingDeviceToken, .channels, .other, .unknown: return false
        }
        return !Self.isOfWebPage(push)
    }

    /// Whether a path that is none of pushes is meant for one, so that it is refused as APNs does.
    private static func isOfPushes(_ push: borrowing PushContext) -> Bool {
        let path = push.text(push.request.path)
        return ["/1/", "/3/", "/4/", "/v1/apps/"].contains { path.hasPrefix($0) }
    }

    private static func isOfWebPage(_ push: borrowing PushContext) -> Bool {
        let fields = push.fields
        for index in fields.indices where push.text(fields[index].name) == "origin" { return true }
        return false
    }

    func passOn(
        _ number: Int,
        of batch: borrowing RequestBatch,
        to others: (borrowing RequestBatch) -> Void
    ) {
        var single = RequestBatch()
        single.bytes = batch.bytes
        single.fields = batch.fields
        single.requests = [batch.requests[number]]
        others(single)
    }

    package func judge(_ heads: borrowing RequestBatch, from connection: HTTPConnection) {
        let (state, now) = (self.state(of: connection), self.services.clock.now())
        var push = PushContext(of: heads, from: connection, state, at: now)
        for number in heads.requests.indices {
            push.read(heads.requests[number], number)
            switch self.course(of: push) {
            case .push: self.judge(&push)
            case .bulk(let path):
                push.move(to: path)
                self.judgeBulk(push)
            case .channels(let route): self.judgeChannelRequest(push, route)
            case .nowhere: self.reject(RejectionAnswer(.badPath), push)
            case .others: self.passOn(number, of: heads) { self.others.judge($0, from: connection) }
            case .unread: break
            }
        }
        self.endRound(of: connection, state, hasBodies: false)
    }

    /// Judges a push whose body has not come: its credentials, and how long the body may be.
    private func judge(_ push: inout PushContext) {
        do throws(RejectionAnswer) {
            self.limitBody(of: push, on: try self.intake.judge.judgeHead(push))
        } catch {
            push.trace = self.services.tracing?.begin(push.fields, in: push.bytes)
            self.refuse(error, push)
        }
    }

    /// Takes as much of a body that has not come as the list says.
    func limitBody(of push: borrowing PushContext, on path: PushPath) {
        let bytesMax = self.intake.judge.bounds.intake.bytesMax(of: path.body)
        push.connection.limitBody(of: push.request.streamID, to: bytesMax)
    }
}
