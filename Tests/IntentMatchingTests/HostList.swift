import IntentMatching
import WidgetModel

/// Hosts by number, in plain arrays. A host that no instance uses any more gives its number to the next new one.
struct HostList: HostNaming {
    private var ids: [[UInt8]?] = []
    private var uses: [Int] = []
    private var free: [UInt32] = []

    init() {}

    /// Hosts that are numbered in this order, each used once.
    init(_ ids: some Sequence<String>) {
        self.ids = ids.map { Array($0.utf8) }
        self.uses = self.ids.map { _ in 1 }
    }

    /// The number of a host, used once more.
    mutating func use(_ host: HostID) -> UInt32 {
        let id = Array(host.rawValue.utf8)
        let number = self.number(of: id)?.raw ?? self.add(id)
        self.uses[Int(number)] += 1
        return number
    }

    private mutating func add(_ id: [UInt8]) -> UInt32 {
        if let number = self.free.popLast() {
            self.ids[Int(number)] = id
            return number
        }
        self.ids.append(id)
        self.uses.append(0)
        return UInt32(self.ids.count - 1)
    }

    /// Takes back one use of a host.
    mutating func release(_ host: HostID) {
        guard let number = self.number(of: Array(host.rawValue.utf8)) else { return }
        self.uses[number.index] -= 1
        guard self.uses[number.index] == 0 else { return }
        self.ids[number.index] = nil
        self.free.append(number.raw)
    }

    func number(ofHost id: [UInt8], of app: BundleID) -> HostNumber? { self.number(of: id) }

    private func number(of id: [UInt8]) -> HostNumber? { self.ids.firstIndex(of: id).map { HostNumber($0) } }

    func forEachHost(in numbers: Range<HostNumber>, _ body: (HostNumber, Span<UInt8>) -> Void) {
        for number in (numbers.lowerBound.index..<numbers.upperBound.index).clamped(to: self.ids.indices) {
            if let id = self.ids[number] { body(HostNumber(number), id.span) }
        }
    }
}
