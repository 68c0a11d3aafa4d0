/// A path of pushes or channels, with its methods. ``all`` is the one list of them.
///
/// A class, since every push asks for its own, and there is one of each.
package final class PushPath: Hashable, Sendable, CustomStringConvertible {
    /// In the order of ``all``.
    package enum Kind: Int, CaseIterable, Sendable {
        case device, targeted, bulk, broadcast, channels, channel, allChannels
    }

    /// How long a body may be.
    package enum Body: Hashable, Sendable {
        /// `limits.maxDeviceBodyBytes`.
        case device
        /// `limits.maxTargetedBodyBytes`.
        case targeted
        /// `limits.maxBulkBytes`.
        case bulk
        /// ``ChannelValidation/bodyBytesMax``.
        case channel
    }

    package let kind: Kind
    /// The methods that it takes, as `allow` has them.
    package let allowed: StaticString
    /// The right that a sender needs.
    package let action: SenderAction
    package let body: Body
    /// The query parameter that it knows, nil if it knows none.
    package let query: StaticString?
    private let prefix: StaticString
    /// The name of the path segment behind the prefix.
    private let parameter: StaticString
    private let suffix: StaticString
    /// The name of the rest behind the suffix, which may have slashes; nil if there is no rest.
    private let rest: StaticString?

    private init(
        _ kind: Kind,
        _ allowed: StaticString,
        _ access: (action: SenderAction, body: Body),
        _ prefix: StaticString,
        _ parameter: StaticString,
        _ suffix: StaticString = "",
        rest: StaticString? = nil,
        query: StaticString? = nil
    ) {
        (self.kind, self.allowed, self.query) = (kind, allowed, query)
        (self.action, self.body) = access
        (self.prefix, self.parameter, self.suffix, self.rest) = (prefix, parameter, suffix, rest)
    }

    /// Every one, those of the most requests first.
    ///
    /// A new one stands here, in docs/openapi.yaml and in docs/wire.md; tests say where they differ. Channels have the paths of APNs'
    /// broadcast and channel-management services; the one with a channel's id is APNSwift's own.
    package static let all = [
        PushPath(.device, "POST", (.devices, .device), "/3/device/", "token"),
        PushPath(.targeted, "POST", (.targeted, .targeted), "/v1/apps/", "app", "/pushes", query: "dry-run"),
        PushPath(.bulk, "POST", (.targeted, .bulk), "/v1/apps/", "app", "/pushes/bulk"),
        PushPath(.broadcast, "POST", (.channels, .channel), "/4/broadcasts/apps/", "app"),
        PushPath(.channels, "GET, POST, DELETE", (.channels, .channel), "/1/apps/", "app", "/channels"),
        PushPath(.channel, "GET, DELETE", (.channels, .channel), "/1/apps/", "app", "/channels/", rest: "channel"),
        PushPath(.allChannels, "GET", (.channels, .channel), "/1/apps/", "app", "/all-channels"),
    ]

    package static subscript(kind: Kind) -> PushPath { Self.all[kind.rawValue] }

    /// As docs/openapi.yaml has it: `/3/device/{token}`.
    package var description: String {
        "\(self.prefix){\(self.parameter)}\(self.suffix)" + (self.rest.map { "{\($0)}" } ?? "")
    }

    package var methods: [String] { "\(self.allowed)".split(separator: ", ").map { String($0) } }

    package func takes(_ method: PushRequestHead.Method) -> Bool { self.methods.contains("\(method)".uppercased()) }

    /// There is one path of each kind.
    package static func == (left: PushPath, right: PushPath) -> Bool { left.kind == right.kind }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.kind) }

    /// Whether a text is below the paths of channels, even one that is none of them.
    static func isBelowChannels(_ text: Span<UInt8>) -> Bool {
        Self.all.contains { $0.action == .channels && text.holds($0.prefix, at: 0) }
    }

    /// Where the parameter of a text is, and the rest behind the suffix; nil if the text is another path.
    @inline(__always)
    func places(in text: Span<UInt8>) -> (parameter: Range<Int>, rest: Range<Int>)? {
        let start = self.prefix.utf8CodeUnitCount
        guard text.holds(self.prefix, at: 0) else { return nil }
        let end = text.firstIndex(of: UInt8(ascii: "/"), from: start) ?? text.count
        guard end > start, text.holds(self.suffix, at: end) else { return nil }
        let rest = (end + self.suffix.utf8CodeUnitCount)..<text.count
        let isWhole = self.rest == nil ? rest.isEmpty : !rest.isEmpty
        guard isWhole || (self.query != nil && text[rest.lowerBound] == UInt8(ascii: "?")) else { return nil }
        return (start..<end, rest)
    }
}
