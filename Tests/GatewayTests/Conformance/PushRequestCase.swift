import APNSWire
import Engine
import Ingest
import Partitions
import Serving
import Settings
import TLS
import Testing
import WidgetModel

/// One request and its answer: a row of the tables in this folder.
struct PushRequestCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// How its header list differs from ``usual``: `name: value` in place of the usual value, `name` taken out,
    /// `+name: value` added at the end.
    let changes: [String]
    var body = Self.plain
    /// Whether the listener has thrown away the bytes beyond its own limit.
    var isTooLarge = false
    /// The provider key whose token it brings.
    var key = "TEAMKEY001"
    /// The connection's client certificate, nil for none.
    var certificate: Certificate?
    /// Whether pushes to the app may be of any type.
    var takesEveryType = false
    /// Status and reason of the answer, and its other members; for a 200, the push as it was understood.
    let answer: String
    /// Whether the request got as far as its credentials: one signature is checked, and the connection is bound.
    var reachesCredentials = true

    /// A client certificate, by its topics.
    enum Certificate: Sendable {
        case scores
        /// The same, for pushes of any type.
        case scoresOfEveryType
    }

    static let plain = #"{"aps":{"content-changed":true}}"#

    init(
        _ name: String,
        _ changes: [String],
        body: String = plain,
        isTooLarge: Bool = false,
        key: String = "TEAMKEY001",
        certificate: Certificate? = nil,
        everyType: Bool = false,
        _ answer: String
    ) {
        self.name = name
        self.changes = changes
        self.body = body
        self.isTooLarge = isTooLarge
        self.key = key
        self.certificate = certificate
        self.takesEveryType = everyType
        self.answer = answer
    }

    /// The same, refused before the credentials are looked at.
    var early: PushRequestCase {
        var copy = self
        copy.reachesCredentials = false
        return copy
    }

    var testDescription: String { self.name }

    /// The header list of a push in which nothing is out of the ordinary.
    static let usual = [
        ":method: POST", ":scheme: https", ":authority: localhost:2197", ":path: /3/device/\(PushWorld.phone)",
        "apns-topic: com.example.scores.push-type.widgets", "apns-push-type: widgets",
    ]

    /// The header list that it has.
    var headers: [(name: String, value: String)] {
        var lines = (Self.usual + ["authorization: bearer \(PushToken.usual(of: self.key))"]).map(Self.split)
        for change in self.changes {
            let isAdded = change.hasPrefix("+")
            let line = Self.split(isAdded ? String(change.dropFirst()) : change)
            if isAdded {
                lines.append(line)
            } else if let index = lines.firstIndex(where: { $0.name == line.name }) {
                if change.dropFirst().contains(":") { lines[index] = line } else { lines.remove(at: index) }
            } else {
                lines.append(line)
            }
        }
        return lines
    }

    /// `name: value`; a pseudo-header's name begins with a colon itself.
    private static func split(_ line: String) -> (name: String, value: String) {
        guard let colon = line.dropFirst().firstIndex(of: ":") else { return (line, "") }
        return (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
    }
}

/// A request as the push listener hands it on: bytes, and places in them.
struct PushRequestBytes {
    let head: PushRequestHead
    let bytes: [UInt8]
    let body: Range<Int>

    init(_ headers: [(name: String, value: String)], body: [UInt8]) {
        var bytes = Array("another request's bytes".utf8)
        var places: [ByteRange] = []
        for header in headers {
            let start = bytes.count
            bytes += Array(header.value.utf8)
            places.append(ByteRange(start..<bytes.count))
        }
        self.body = bytes.count..<(bytes.count + body.count)
        bytes += body
        var head = PushRequestHead()
        for (header, place) in zip(headers, places) {
            let name = Array(header.name.utf8)
            head.receive(name: name.span, value: place, in: bytes.span)
        }
        self.head = head
        self.bytes = bytes
    }

    func text(_ range: ByteRange) -> String { String(decoding: self.bytes[range.bounds], as: UTF8.self) }
}

/// The result of a request.
struct PushVerdict: Hashable, CustomStringConvertible {
    /// As in ``PushRequestCase/answer``.
    let answer: String
    let detail: String?
    let verifications: Int
    let remembered: Int
    /// The key whose token bound the connection.
    let boundTo: String?

    var description: String {
        "\(self.answer) (\(self.detail ?? "no detail"); \(self.verifications) checked, \(self.remembered) kept, bound to "
            + "\(self.boundTo ?? "nobody"))"
    }
}

extension PushJudge {
    /// Judges a request and tells the answer in the words of the tables.
    mutating func answer(
        _ request: PushRequestBytes,
        isTooLarge: Bool = false,
        on connection: PushConnection,
        at now: Instant
    ) -> (answer: String, detail: String?) {
        do throws(RejectionAnswer) {
            let judged = try self.judge(request, isTooLarge: isTooLarge, on: connection, at: now)
            return ("200 \(judged.summary(request))", nil)
        } catch {
            let timestamp = error.status == 410 ? error.timestamp.map { " \($0.milliseconds)" } ?? "" : ""
            return ("\(error.status) \(error.rejection.rawValue)\(timestamp)", error.detail)
        }
    }
}

extension JudgedPush {
    /// App, type and destination, and every part that the sender gave.
    fileprivate func summary(_ request: PushRequestBytes) -> String {
        var words = ["\(self.app.bundle.rawValue.split(separator: ".").last ?? "")", self.push.type.name]
        switch self.destination {
        case .host(let place):
            words.append(place.hostID.rawValue)
            if let instance = place.instanceID { words.append("/ \(instance)") }
        case .unknownHost(let host):
            words.append(self.app.acceptsUnknownTokens ? "a derived host" : host.id.rawValue)
        case .sought: words.append("sought")
        case .app: words.append("everywhere")
        case .upstream: words.append("upstream")
        }
        if case .targeted(_, isDryRun: true) = self.push.target { words.append("dry") }
        if let id = self.push.idText { words.append("id=\(request.text(id))") }
        if let priority = self.push.priority { words.append("priority=\(priority.rawValue)") }
        if let expiration = self.push.expiration { words.append("expiration=\(expiration)") }
        if let collapseID = self.push.collapseID { words.append("collapse=\(request.text(collapseID))") }
        if let kind = self.details?.payload.kind { words.append("kind=\(kind)") }
        if self.details?.pattern != nil { words.append("pattern") }
        if let digest = self.details?.payload.digest { words.append("digest=\(digest)") }
        if let notBefore = self.details?.payload.notBefore { words.append("not-before=\(notBefore.seconds)") }
        if let maxMatched = self.details?.payload.maxMatched { words.append("maxMatched=\(maxMatched)") }
        return words.joined(separator: " ")
    }
}

extension PushRequestCase {
    private static let certified = Self.certified(PushTypeSet.widgetKit)
    private static let certifiedOfEveryType = Self.certified(PushTypeSet(PushType.allCases))

    /// A certificate, and a table that names it for the scores app.
    private static func certified(_ types: PushTypeSet) -> (certificate: PeerCertificate, table: ClientCertificates) {
        do {
            let issued = try CertificateAuthority.make(commonName: "Test root").issueClient(commonName: "sender")
            let certificate = try PeerCertificate(unverified: .text(issued.certificatePEM))
            let app = ClientCertificateTable.App(
                topics: TopicTable.App(number: 0, bundle: BundleID("com.example.scores"), types: types),
                team: TeamID("TEAM123456"),
                environment: .production
            )
            let name = ClientCertificateTable.Name.fingerprint(certificate.sha256Fingerprint)
            let table = ClientCertificateTable(apps: [app], rules: [.init(name: name, app: 0, topics: nil)])
            return (certificate, ClientCertificates(table))
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// The verdict on the request in a world, on a connection of its own.
    func verdict(in world: PushWorld) -> PushVerdict {
        var judge = (self.takesEveryType ? world.takingEveryType() : world).judge()
        let certified = self.certificate == .scoresOfEveryType ? Self.certifiedOfEveryType : Self.certified
        let standing = CertificateStanding(certified.certificate, certified.table)
        let connection = PushConnection(certificate: self.certificate == nil ? nil : standing)
        let (answer, detail) = judge.answer(
            PushRequestBytes(self.headers, body: Array(self.body.utf8)),
            isTooLarge: self.isTooLarge,
            on: connection,
            at: Instant(seconds: PushWorld.now)
        )
        return PushVerdict(
            answer: answer,
            detail: detail,
            verifications: judge.verifications,
            remembered: judge.rememberedTokens,
            boundTo: connection.binding.first?.keyID?.rawValue
        )
    }

    /// The expected verdict. Details are for people, and not compared here.
    func expected(_ detail: String?) -> PushVerdict {
        let isTold = self.reachesCredentials && self.certificate == nil
        return PushVerdict(
            answer: self.answer,
            detail: detail,
            verifications: isTold ? 1 : 0,
            remembered: isTold ? 1 : 0,
            boundTo: isTold ? self.key : nil
        )
    }
}
