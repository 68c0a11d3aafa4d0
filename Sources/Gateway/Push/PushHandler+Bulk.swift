import APNSWire
import HTTP2
import HTTPTransport
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
    /// - Parameter path: Where each of its pushes goes.
    func judgeBulk(
        _ request: RequestBatch.Request,
        _ bytes: Span<UInt8>,
        _ head: PushRequestHead,
        to path: APNSWire.ByteRange,
        _ connection: HTTPConnection,
        _ state: PushConnection,
        _ now: Instant
    ) {
        do throws(RejectionAnswer) {
            _ = try self.intake.judge.judgeHead(head.moved(to: path), in: bytes, on: state, at: now)
            connection.limitBody(of: request.streamID, to: self.services.apps.bounds.intake.bulk.bytesMax)
        } catch {
            self.slowDown(state, for: error)
            self.respond(error, self.answerID(of: head, bytes), connection, request.streamID)
        }
    }

    func receiveBulk(
        _ request: RequestBatch.Request,
        _ batch: borrowing RequestBatch,
        _ head: PushRequestHead,
        to path: APNSWire.ByteRange,
        _ connection: HTTPConnection,
        _ state: PushConnection,
        _ now: Instant
    ) {
        let bytes = batch.bytes.span
        let intake = self.services.apps.bounds.intake
        do throws(RejectionAnswer) {
            _ = try self.intake.judge.judgeHead(head.moved(to: path), in: bytes, on: state, at: now)
            let lines = try Self.lines(request, batch, intake.bulk)
            guard self.services.bulks.count < intake.bulk.requestsMax else {
                throw RejectionAnswer(
                    .tooManyRequests,
                    detail: "\(intake.bulk.requestsMax) bulks are being taken, as many as the gateway allows",
                    retryAfter: SenderLimits.retryAfterSeconds
                )
            }
            let key = BulkKey(connection: connection.id, stream: request.streamID)
            let running = self.services.bulks
            let exchange = BulkExchange(
                lines,
                to: Array(copying: bytes.extracting(path.bounds)),
                common: Self.commonFields(request, batch),
                of: request.streamID,
                on: connection,
                intake.bulk,
                lineBytesMax: intake.bulk.lineBytesMax(payload: intake.targetedBodyBytesMax),
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
            self.slowDown(state, for: error)
            self.respond(error, self.answerID(of: head, bytes), connection, request.streamID)
        }
    }

    private static func lines(
        _ request: RequestBatch.Request,
        _ batch: borrowing RequestBatch,
        _ limits: BulkLimits
    ) throws(RejectionAnswer) -> [ArraySlice<UInt8>] {
        guard !request.flags.contains(.bodyTooLarge), request.body.length <= limits.bytesMax else {
            throw RejectionAnswer(.payloadTooLarge, detail: "a bulk takes at most \(limits.bytesMax) bytes a request")
        }
        let lines = HostRoutes.lines(Array(batch.bytes[request.body.indices]))
        guard !lines.isEmpty else {
            throw RejectionAnswer(.payloadEmpty, detail: "a bulk is a push a line, each an object in JSON")
        }
        guard lines.count <= limits.linesMax else {
            throw RejectionAnswer(.payloadTooLarge, detail: "a bulk takes at most \(limits.linesMax) lines a request")
        }
        return lines
    }

    /// The header fields of a bulk that are each push's, too: its credentials, and what holds for lines that do not say otherwise.
    private static func commonFields(
        _ request: RequestBatch.Request,
        _ batch: borrowing RequestBatch
    ) -> [(name: String, value: [UInt8])] {
        var fields: [(name: String, value: [UInt8])] = []
        for index in request.fields {
            let field = batch.fields[Int(index)]
            let name = batch.string(field.name)
            guard name == "authorization" || name.hasPrefix("apns-"), name != "apns-id" else { continue }
            fields.append((name, Array(batch.bytes[field.value.indices])))
        }
        return fields
    }
}
