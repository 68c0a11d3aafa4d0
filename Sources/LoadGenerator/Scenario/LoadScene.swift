import WidgetModel

/// The hosts and widgets of a run, computed from their numbers: nothing is kept for one.
///
/// Tokens are hashes, as real ones look, and the same for the same seed: a second run finds the hosts of the first.
package struct LoadScene: Sendable {
    package let scenario: LoadScenario

    package init(_ scenario: LoadScenario) {
        self.scenario = scenario
    }

    static let tokenLength = 64
    private static let digits = Array("0123456789abcdef".utf8)

    /// Writes the push token of a host, 64 hex digits.
    func writeToken(_ host: Int, into text: inout [UInt8]) {
        for word in 0..<4 {
            var value = StableHash.mix(self.scenario.seed &* 4 &+ UInt64(word) ^ StableHash.mix(UInt64(host)))
            for place in 0..<16 {
                text[word * 16 + place] = Self.digits[Int(value & 15)]
                value >>= 4
            }
        }
    }

    package func token(_ host: Int) -> String {
        var text = Array(repeating: UInt8(ascii: "0"), count: Self.tokenLength)
        self.writeToken(host, into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    package func hostID(_ host: Int) -> String { "load-\(host)" }

    static let hostPrefix = Array("load-".utf8)

    /// The value of a widget's parameter. A new registration moves every widget of the host on by one.
    func value(host: Int, widget: Int, revision: Int) -> String {
        "v\((host + widget * 7 + revision - 1) % self.scenario.hosts.values)"
    }

    /// The instances of a host, as JSON.
    private func instances(_ host: Int, revision: Int) -> String {
        let one = (0..<self.scenario.hosts.widgets).map { widget in
            let value = self.value(host: host, widget: widget, revision: revision)
            return "{\"id\":\"w\(widget)\",\"kind\":\"\(self.scenario.kind)\",\"family\":\"systemSmall\","
                + "\"configuration\":{\"\(self.scenario.parameter)\":\"\(value)\"}}"
        }
        return "[\(one.joined(separator: ","))]"
    }

    /// A host's registration, for `PUT /v1/hosts/<token>/widgets`.
    func registration(_ host: Int, revision: Int) -> [UInt8] {
        let text =
            "{\"app\":\"\(self.scenario.app)\",\"host\":\"\(self.hostID(host))\",\"revision\":\(revision),"
            + "\"instances\":\(self.instances(host, revision: revision))}"
        return Array(text.utf8)
    }

    /// The same as a line of the bulk import.
    package func importLine(_ host: Int, revision: Int) -> String {
        "{\"token\":\"\(self.token(host))\",\"host\":\"\(self.hostID(host))\",\"app\":\"\(self.scenario.app)\","
            + "\"revision\":\(revision),\"instances\":\(self.instances(host, revision: revision))}"
    }

    static let devicePush = Array("{\"aps\":{\"content-changed\":true}}".utf8)

    /// A targeted push for all widgets, or for those with one value.
    func targetedPush(_ reach: Load.Reach, value: Int) -> [UInt8] {
        let match =
            reach == .everyone
            ? "" : ",\"match\":{\"\(self.scenario.parameter)\":[\"v\(value % self.scenario.hosts.values)\"]}"
        return Array(
            "{\"aps\":{\"content-changed\":true},\"freshet\":{\"kind\":\"\(self.scenario.kind)\"\(match)}}".utf8
        )
    }

    /// Whether a host is one of the slow ones: the first ones are.
    func isSlow(_ host: Int) -> Bool {
        Double(host) < self.scenario.hosts.slowShare * Double(self.scenario.hosts.count)
    }
}
