import Ownership
import WidgetModel

@testable import Engine

/// A delivery machine, and its actions whose results it was not told yet: each test tells the results.
struct DeliveryDesk: ~Copyable {
    static let app = BundleID("com.example.scores")
    static let upstream = DeliveryTarget(kind: .upstream, app: Self.app)
    static let webhook = DeliveryTarget(kind: .webhook, app: Self.app)
    static let destinations: [DeliveryTarget: Destination] = [
        Self.upstream: .upstream(0), Self.webhook: .webhook(Self.app),
    ]

    var machine: DeliveryMachine
    var now = Instant(seconds: 1_793_638_800)

    init(_ change: (inout DeliveryMachine.Settings) -> Void = { _ in }) {
        var settings = DeliveryMachine.Settings()
        change(&settings)
        self.machine = DeliveryMachine(Self.destinations, partitions: 2, settings)
    }

    /// A reload of one of a host's instances.
    func reload(
        _ instance: UInt32,
        at position: UInt64 = 7,
        host: String = "phone",
        _ delivery: HostDelivery = .apns
    ) -> ReloadEffect {
        ReloadEffect(
            id: ReloadID(
                partition: PartitionID(0),
                position: LogPosition(position),
                instance: InstanceNumber(raw: instance),
                check: instance
            ),
            address: InstanceAddress(
                host: HostKey(app: Self.app, id: HostID(host)),
                instance: InstanceID("w\(instance)")
            ),
            kind: WidgetKind("scores"),
            family: .systemSmall,
            delivery: delivery,
            causes: ReloadCauses(.push),
            exemption: nil,
            issuedAt: self.now,
            expiresAt: self.now + .hours(1),
            pushCount: 1,
            push: nil
        )
    }

    /// The push that an engine gives for a reload that is out.
    func push(to token: String = "token", mayWait: Bool = true) -> OutgoingPush {
        OutgoingPush(
            token: DeviceToken(bytes: Array(token.utf8)),
            isControl: false,
            priority: .high,
            collapseID: nil,
            expiresAt: self.now + .hours(1),
            mayWait: mayWait
        )
    }

    /// Everything that is to be done now.
    mutating func actions() -> [DeliveryAction] {
        var all: [DeliveryAction] = []
        while let action = self.machine.next(now: self.now) { all.append(action) }
        return all
    }

    /// The searches that are to be made now.
    mutating func searches() -> [DeliveryAction] {
        self.actions().filter { if case .findUndelivered = $0 { true } else { false } }
    }

    /// The requests that are to be sent now, each question about a push being answered with this one.
    mutating func requests(_ push: OutgoingPush? = nil) -> [DeliveryRequest] {
        var all: [DeliveryRequest] = []
        while let action = self.machine.next(now: self.now) {
            switch action {
            case .findPushes(let number, _, let ids):
                self.machine.takePushes(ids.map { _ in push ?? self.push() }, for: number, now: self.now)
            case .send(let request): all.append(request)
            default: continue
            }
        }
        return all
    }

    mutating func answer(_ request: DeliveryRequest, _ status: Int, _ reason: String? = nil) {
        let body = reason.map { #"{"reason":"\#($0)"}"# } ?? ""
        let response = DeliveryResponse(status: status, body: Array(body.utf8))
        self.machine.takeAnswer(.response(response), to: request.number, try: request.tryNumber, now: self.now)
    }
}
