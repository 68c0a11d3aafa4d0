@testable import APNSWire
import WidgetModel

/// A push request as header lines, changed at will and then judged.
struct PushFixture {
    struct Line {
        let name: String
        let value: [UInt8]
    }

    static let token = String(repeating: "0a1B", count: 16)
    static let app = BundleID("com.example.scores")
    static let topics = TopicTable([
        TopicTable.App(number: 3, bundle: BundleID("com.example.weather")),
        TopicTable.App(
            number: 7,
            bundle: Self.app,
            extraTopics: ["com.example.scores.watchkitapp.push-type.widgets", "scores"]
        ),
    ])

    /// The same apps, seen by a key of the other environment.
    static let otherEnvironment = TopicTable([
        TopicTable.App(number: 7, bundle: Self.app, isOfOtherEnvironment: true)
    ])

    var lines: [Line]
    var bodyBytes = 32
    var topics = Self.topics
    var limits = PushLimits()
    var hasCertificate = false

    /// A request in which everything is right and every optional header present.
    static var full: PushFixture {
        PushFixture([
            (":method", "POST"), (":scheme", "https"), (":authority", "localhost:2197"),
            (":path", "/3/device/\(Self.token)"), ("authorization", "bearer a.b.c"),
            ("apns-id", "123e4567-e89b-12d3-a456-4266554400a0"), ("apns-topic", "\(Self.app).push-type.widgets"),
            ("apns-push-type", "widgets"), ("apns-priority", "5"), ("apns-expiration", "1700000000"),
            ("apns-collapse-id", "game-1"), ("content-type", "application/json"), ("content-length", "32"),
        ])
    }

    init(_ headers: [(String, String)]) {
        self.lines = headers.map { Line(name: $0.0, value: Array($0.1.utf8)) }
    }

    /// The same with a header's value replaced, added at the end, or with nil taken out.
    func with(_ name: String, _ value: String?) -> PushFixture {
        var copy = self
        copy.set(name, value)
        return copy
    }

    mutating func set(_ name: String, _ value: String?) {
        guard let value else { return self.lines.removeAll { $0.name == name } }
        let line = Line(name: name, value: Array(value.utf8))
        if let index = self.lines.firstIndex(where: { $0.name == name }) {
            self.lines[index] = line
        } else {
            self.lines.append(line)
        }
    }

    /// The head and the arena that its ranges lie in; the arena starts with bytes of others.
    var received: (head: PushRequestHead, bytes: [UInt8]) {
        var bytes = Array("another request's bytes".utf8)
        var places: [ByteRange] = []
        for line in self.lines {
            places.append(ByteRange(bytes.count..<(bytes.count + line.value.count)))
            bytes += line.value
        }
        var head = PushRequestHead()
        for (line, place) in zip(self.lines, places) {
            let name = Array(line.name.utf8)
            head.receive(name: name.span, value: place, in: bytes.span)
        }
        return (head, bytes)
    }

    /// The validation's result. The provider token only has to be there.
    func validate() throws(Rejection) -> ValidatedPush {
        let (head, bytes) = self.received
        let target = try PushValidation.beforeCredentials(head, in: bytes.span)
        if !self.hasCertificate {
            do throws(ProviderTokenError) {
                let authorization = bytes.span.extracting((head.authorization ?? .empty).bounds)
                _ = try ProviderToken.tokenRange(in: authorization)
            } catch {
                throw error.rejection
            }
        }
        let place = PushPlace(head, in: bytes.span, target: target, topics: self.topics)
        if place.isOfOtherEnvironment { throw .badEnvironmentKeyInToken }
        return try PushValidation.afterCredentials(
            head,
            in: bytes.span,
            target: target,
            place: place,
            bodyBytes: self.bodyBytes,
            limits: self.limits
        )
    }

    /// Why it is refused, or nil.
    var rejection: Rejection? {
        do throws(Rejection) {
            _ = try self.validate()
            return nil
        } catch {
            return error
        }
    }

    /// The text at a place of the arena.
    func text(_ range: ByteRange?) -> String? {
        range.map { String(decoding: self.received.bytes[$0.bounds], as: UTF8.self) }
    }
}
