import APNSWire
import HTTP2
import HTTPTransport
import Partitions
import Serving
import WidgetModel

/// Bulks of targeted pushes: a push a line, an answer a line.
extension PushHandler {
    /// Where a bulk's answer goes.
    struct BulkKey: Hashable {
        let connection: UInt64
        let stream: Int32
    }

    /// Judges a bulk whose body has not come: by the credentials of its pushes.
    ///
    /// - Parameter push: As each of its pushes would come.
    func judgeBulk(_ push: borrowing PushContext) {
        do throws(RejectionAnswer) {
            _ = try self.intake.judge.judgeHead(push)
            self.limitBody(of: push, on: PushPath[.bulk])
        } catch {
            self.refuse(error, push)
        }
    }

    func receiveBulk(_ push: borrowing PushContext) {
        let bounds = self.services.apps.bounds.intake
        do throws(RejectionAnswer) {
            _ = try self.intake.judge.judgeHead(push)
            let lines = try Self.lines(of: push, bounds.bulk)
            guard self.services.bulks.count < bounds.bulk.requestsMax else {
                throw RejectionAnswer(
                    .tooManyRequests,
                    detail:
                        "\(bounds.bulk.requestsMax) bulk requests are in progress, the limit; send this one again later",
                    retryAfter: Problem.retryAfterSeconds
                )
            }
            let key = BulkKey(connection: push.connection.id, stream: push.request.streamID)
            let (running, state) = (self.services.bulks, push.state)
            let exchange = BulkExchange(
                lines,
                to: push.copy(of: push.head.path ?? .empty),
                common: Self.commonFields(of: push),
                of: push.request.streamID,
                on: push.connection,
                bounds.bulk,
                lineBytesMax: bounds.bulk.lineBytesMax(payload: bounds.targetedBodyBytesMax),
                reader: self.intake.judge.reader,
                take: { [weak self] requests, own in
                    own.context = state
                    self?.receive(requests, from: own)
                },
                ended: { [weak self] in
                    self?.bulks[key] = nil
                    running.remove(1)
                }
            )
            running.add(1)
            self.bulks[key] = exchange
            exchange.start()
        } catch {
            self.refuse(error, push)
        }
    }

    private static func lines(
        of push: borrowing PushContext,
        _ limits: BulkLimits
    ) throws(RejectionAnswer) -> [ArraySlice<UInt8>] {
        guard push.bodyBytes <= limits.bytesMax else {
            throw RejectionAnswer(.payloadTooLarge, detail: "a bulk request may have at most \(limits.bytesMax) bytes")
        }
        let lines = JSONLines.split(Array(copying: push.body))
        guard !lines.isEmpty else {
            throw RejectionAnswer(.payloadEmpty, detail: "a bulk request has one push per line, each a JSON object")
        }
        guard lines.count <= limits.linesMax else {
            throw RejectionAnswer(.payloadTooLarge, detail: "a bulk request may have at most \(limits.linesMax) lines")
        }
        return lines
    }

    /// The header fields of a bulk that are each push's, too: its credentials, and the fields for lines that do not have them.
    private static func commonFields(of push: borrowing PushContext) -> [(name: String, value: [UInt8])] {
        var fields: [(name: String, value: [UInt8])] = []
        let all = push.fields
        for index in all.indices {
            let field = all[index]
            let name = push.text(field.name)
            guard name == "authorization" || name.hasPrefix("apns-"), name != "apns-id" else { continue }
            fields.append((name, push.copy(of: field.value.wire)))
        }
        return fields
    }
}
