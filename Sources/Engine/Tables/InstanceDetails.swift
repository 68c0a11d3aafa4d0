import IntentMatching
import Timelines
import WidgetModel

/// What decisions seldom need of the instances of a partition, by their number.
///
/// Every instance has a ``Row`` and a configuration, which are always packed. What only some have lies in side tables, group
/// by group, so that a plain instance takes a few dozen bytes here: one that never had a field of a group reads its
/// defaults and takes no memory for it.
struct InstanceDetails: Sendable {
    /// What every instance has beside its configuration.
    struct Row: Sendable {
        let id: InstanceID
        var family: WidgetFamily
    }

    /// What is packed of an instance before its text: its id, and its configuration's packed form.
    private struct Head {
        var family = WidgetFamily.systemSmall
        /// What the state of its content is known from: the reload that brought it, or the report that said it.
        var confirmedBy = LogPosition.start
        /// The numbers of its groups, if it has any.
        var particulars = SideTable<Particulars>.none
        var content = SideTable<Content>.none
        var observed = SideTable<Observed>.none
        /// Where the text is, if it is too long to be packed behind this.
        var text = SideTable<Text>.none
        /// In bytes.
        var idCount = 0
        var configurationCount = 0

        var textCount: Int { self.idCount + self.configurationCount }

        @inline(__always)
        func packed(by coder: inout some FieldCoder) -> Head {
            coder.begin()
            var head = Head()
            head.text = coder.optional(self.text, none: SideTable<Text>.none)
            head.confirmedBy = LogPosition(coder.number(self.confirmedBy.rawValue))
            head.particulars = coder.optional(self.particulars, none: SideTable<Particulars>.none)
            head.content = coder.optional(self.content, none: SideTable<Content>.none)
            head.observed = coder.optional(self.observed, none: SideTable<Observed>.none)
            if head.text == SideTable<Text>.none {
                // Both counts are small then.
                let common = coder.common(
                    UInt64(self.family.rawValue) | UInt64(self.idCount) << 8 | UInt64(self.configurationCount) << 16
                )
                head.family = WidgetFamily(rawValue: UInt8(truncatingIfNeeded: common)) ?? self.family
                head.idCount = Int(common >> 8 & 0xFF)
                head.configurationCount = Int(common >> 16)
            } else {
                head.family = WidgetFamily(rawValue: coder.number(self.family.rawValue)) ?? self.family
                head.idCount = coder.number(self.idCount)
                head.configurationCount = coder.number(self.configurationCount)
            }
            return head
        }
    }

    /// A text that is too long to be packed.
    private struct Text: SideRow {
        var bytes: [UInt8] = []

        var isBlank: Bool { self.bytes.isEmpty }
    }

    /// A text has at most so many bytes to be packed with what stands before it, and has room then whatever that is: two bytes
    /// are the shape's number, eight the position, fifteen the numbers of three groups, and thirteen a shape without a number.
    private static let textMax = PackedBytes.countMax - 38

    /// What few registrations say.
    struct Particulars: SideRow {
        var tags: [String] = []
        var when: MatchPattern?
        var controlToken: DeviceToken?
        /// The app's environment when that token was registered last.
        var controlEnvironment = PushEnvironment.production

        var isBlank: Bool { self.tags.isEmpty && !self.isConditionOrControl }
        /// Whether there is anything beside tags.
        var isConditionOrControl: Bool {
            self.when != nil || self.controlToken != nil || self.controlEnvironment != .production
        }
    }

    /// The state of content that an instance shows, and will.
    struct Content: SideRow {
        /// As far as it is confirmed; by what is ``InstanceDetails/confirmedBy(of:)``.
        var confirmedDigest: ContentDigest?
        var pendingDigest: ContentDigest?
        /// Most hosts say nothing of timelines.
        private var keptTimeline: Kept?
        /// The date of the entry that the host said it shows.
        var shownEntry: Instant?
        /// The last acknowledged reload that served pushes and of which the host has not yet said that it shows it.
        var unshown: Unshown?

        private indirect enum Kept: Sendable {
            case timeline(Shown)
        }

        var timeline: Shown? {
            get {
                guard case .timeline(let shown)? = self.keptTimeline else { return nil }
                return shown
            }
            set { self.keptTimeline = newValue.map { .timeline($0) } }
        }

        var isBlank: Bool {
            self.keptTimeline == nil && self.confirmedDigest == nil && self.pendingDigest == nil
                && self.shownEntry == nil && self.unshown == nil
        }
    }

    /// The timeline that the instance shows.
    struct Shown: Sendable {
        let timeline: Timeline
        let receivedAt: Instant
        let findings: [TimelineFinding]
        /// How many timelines in a row had its digest, itself included.
        let equalDigests: Int
    }

    /// News that has come to the host and is still to be seen.
    struct Unshown: Sendable {
        /// Where the reload was issued.
        let position: LogPosition
        /// When the oldest push that it serves was accepted.
        let acceptedAt: Instant
    }

    /// What happened to an instance beside the reloads that it was given.
    struct Observed: SideRow {
        /// When it was last looked at, and when the system last reloaded it by itself, in milliseconds.
        var viewedAt = Int64.min
        var systemChangeAt = Int64.min
        /// When a reload that the host does by itself, or after a push to its token, was booked without a report of it,
        /// in milliseconds; `.min` if none is awaited.
        var awaitsReport = Int64.min
        /// Whether it reloads when it is next looked at.
        var awaitsLook = false
        var observedReloads: UInt32 = 0
        /// Reloads that pushes for other instances with the same token brought, within the budget and beyond it.
        var collateralReloads: UInt32 = 0
        var collateralOverReloads: UInt32 = 0

        var isBlank: Bool {
            self.viewedAt == .min && self.systemChangeAt == .min && self.awaitsReport == .min && !self.awaitsLook
                && self.observedReloads == 0 && self.collateralReloads == 0 && self.collateralOverReloads == 0
        }
    }

    /// All of one instance but its configuration, as it is written and read: nil is a group that has nothing.
    struct Whole {
        var row: Row
        var confirmedBy = LogPosition.start
        var particulars: Particulars?
        var content: Content?
        var observed: Observed?
    }

    /// Where each instance is packed; `PackedCells.end` for none.
    private var places = RowChunks<UInt32>()
    private var cells: PackedCells
    private var packer = ConfigurationPacker()
    private var texts = SideTable<Text>()
    private(set) var particulars = SideTable<Particulars>()
    private(set) var content = SideTable<Content>()
    private(set) var observed = SideTable<Observed>()
    /// Memory that is used again.
    private var scratch: [UInt8] = []

    /// No rows.
    ///
    /// - Parameter shapesMax: See ``PackedCells/init(wordsMax:shapesMax:)``.
    init(shapesMax: Int = RowShapes.countMax) {
        self.cells = PackedCells(shapesMax: shapesMax)
    }

    /// Room for about so many rows that are read back, see ``restore(_:_:_:)``.
    init(expecting rows: Int) {
        self.init()
        self.places.expect(rows)
    }

    /// How many instances have something here.
    var count: Int { self.cells.count }

    @inline(__always)
    subscript(particulars slot: UInt32) -> Particulars {
        _read { yield self.particulars[self.head(slot).particulars] }
        _modify {
            var head = self.head(slot)
            if head.particulars != SideTable<Particulars>.none {
                yield &self.particulars[head.particulars]
            } else {
                var first = Particulars()
                yield &first
                head.particulars = self.particulars.keep(first)
                if !first.isBlank { self.replace(slot, head) }
            }
        }
    }

    @inline(__always)
    subscript(content slot: UInt32) -> Content {
        _read { yield self.content[self.head(slot).content] }
        _modify {
            var head = self.head(slot)
            if head.content != SideTable<Content>.none {
                yield &self.content[head.content]
            } else {
                var first = Content()
                yield &first
                head.content = self.content.keep(first)
                if !first.isBlank { self.replace(slot, head) }
            }
        }
    }

    @inline(__always)
    subscript(observed slot: UInt32) -> Observed {
        _read { yield self.observed[self.head(slot).observed] }
        _modify {
            var head = self.head(slot)
            if head.observed != SideTable<Observed>.none {
                yield &self.observed[head.observed]
            } else {
                var first = Observed()
                yield &first
                head.observed = self.observed.keep(first)
                if !first.isBlank { self.replace(slot, head) }
            }
        }
    }

    /// The particulars, nil for the many that have none: who registers instances asks for all of them.
    @inline(__always)
    func particulars(of slot: UInt32) -> Particulars? {
        let number = self.head(slot).particulars
        return number == SideTable<Particulars>.none ? nil : self.particulars[number]
    }

    func whole(_ slot: UInt32) -> Whole {
        let head = self.head(slot)
        var whole = Whole(row: Row(id: self.id(of: slot), family: head.family), confirmedBy: head.confirmedBy)
        if head.particulars != SideTable<Particulars>.none { whole.particulars = self.particulars[head.particulars] }
        if head.content != SideTable<Content>.none { whole.content = self.content[head.content] }
        if head.observed != SideTable<Observed>.none { whole.observed = self.observed[head.observed] }
        return whole
    }

    /// What the state of an instance's content is known from: nearly every instance has that, for every reload that is
    /// acknowledged is news of it.
    @inline(__always)
    func confirmedBy(of slot: UInt32) -> LogPosition { self.head(slot).confirmedBy }

    mutating func setConfirmedBy(of slot: UInt32, _ position: LogPosition) {
        var head = self.head(slot)
        guard head.confirmedBy != position else { return }
        head.confirmedBy = position
        self.replace(slot, head)
    }

    @inline(__always)
    func family(of slot: UInt32) -> WidgetFamily { self.head(slot).family }

    /// O(bytes).
    @inline(__always)
    func id(of slot: UInt32) -> InstanceID {
        guard var reader = self.reader(slot) else { return InstanceID("") }
        let head = Head().packed(by: &reader)
        guard head.text == SideTable<Text>.none else {
            return InstanceID(String(decoding: self.texts[head.text].bytes[..<head.idCount], as: UTF8.self))
        }
        return InstanceID(reader.text(head.idCount))
    }

    /// How many bytes an instance's id, packed configuration, tags and condition take. O(1) where it has neither tags nor a
    /// condition.
    func textBytes(of slot: UInt32) -> Int {
        let head = self.head(slot)
        guard head.particulars != SideTable<Particulars>.none else { return head.textCount }
        return head.textCount + self.particulars[head.particulars].textBytes
    }

    /// Fetches what is packed of an instance, in two steps, see ``PackedSlab/prefetch(_:)``.
    @inline(__always)
    func approach(_ slot: UInt32) { self.places.prefetch(Int(slot)) }

    @inline(__always)
    func prefetch(_ slot: UInt32) {
        let place = self.places[Int(slot)]
        if place < PackedCells.end { self.cells.prefetch(place) }
    }

    // MARK: Configurations

    /// O(size).
    func configuration(of slot: UInt32) -> Configuration {
        var bytes: [UInt8] = []
        let head = self.head(slot)
        guard head.configurationCount > 0 else { return .empty }
        self.copyText(of: slot, into: &bytes)
        bytes.removeFirst(head.idCount)
        return self.packer.unpacked(bytes)
    }

    /// Whether an instance is configured like that. Mutating, though nothing is changed that one could see: what it needs of
    /// memory is used again. O(size).
    mutating func isConfigured(_ slot: UInt32, as configuration: Configuration) -> Bool {
        self.packer.pack(configuration)
        if self.hasConfiguration(slot, self.packer.bytes.span) { return true }
        return configuration.hasFractions && self.configuration(of: slot) == configuration
    }

    /// Whether these bytes are an instance's configuration's packed form.
    private func hasConfiguration(_ slot: UInt32, _ bytes: Span<UInt8>) -> Bool {
        guard var reader = self.reader(slot) else { return bytes.isEmpty }
        let head = Head().packed(by: &reader)
        guard head.configurationCount == bytes.count else { return false }
        guard head.text == SideTable<Text>.none else {
            return self.texts[head.text].bytes[head.idCount...].elementsEqual(Array(copying: bytes))
        }
        reader.skip(head.idCount)
        var place = 0
        while place &+ 8 <= bytes.count {
            guard reader.bytes(8) == ByteHash.word(bytes, at: place) else { return false }
            place &+= 8
        }
        while place < bytes.count {
            guard reader.bytes(1) == UInt64(bytes[place]) else { return false }
            place &+= 1
        }
        return true
    }

    mutating func setConfiguration(of slot: UInt32, _ configuration: Configuration) {
        self.packer.pack(configuration)
        self.setConfiguration(of: slot)
    }

    /// Gives an instance the configuration that ``isConfigured(_:as:)`` was asked about last.
    mutating func setConfiguration(of slot: UInt32) {
        var head = self.head(slot)
        self.scratch.removeAll(keepingCapacity: true)
        self.copyText(of: slot, into: &self.scratch)
        self.scratch.removeLast(head.configurationCount)
        self.scratch += self.packer.bytes
        head.configurationCount = self.packer.bytes.count
        self.keep(slot, head)
    }

    // MARK: Rows

    /// Takes in an instance under a number that has none.
    mutating func insert(_ slot: UInt32, _ row: Row, _ configuration: Configuration = .empty) {
        self.makeRoom(below: slot + 1)
        self.insert(slot, row, configuration, Head())
    }

    private mutating func insert(_ slot: UInt32, _ row: Row, _ configuration: Configuration, _ head: Head) {
        var head = head
        self.packer.pack(configuration)
        self.scratch.removeAll(keepingCapacity: true)
        self.scratch.append(copying: row.id.rawValue.utf8.span)
        head.family = row.family
        head.idCount = self.scratch.count
        head.configurationCount = self.packer.bytes.count
        self.scratch += self.packer.bytes
        self.keep(slot, head)
    }

    private mutating func makeRoom(below end: UInt32) {
        guard Int(end) > self.places.count else { return }
        self.places.append(repeating: PackedCells.end, count: Int(end) - self.places.count)
    }

    mutating func setFamily(of slot: UInt32, _ family: WidgetFamily) {
        var head = self.head(slot)
        guard head.family != family else { return }
        head.family = family
        self.replace(slot, head)
    }

    /// Leaves nothing of an instance.
    mutating func release(_ slot: UInt32) {
        let head = self.head(slot)
        self.releaseGroups(head)
        self.texts.release(head.text)
        let place = self.places[Int(slot)]
        if place < PackedCells.end { self.cells.release(place) }
        self.places[Int(slot)] = PackedCells.end
    }

    /// Leaves an instance its id and its family.
    mutating func clear(_ slot: UInt32) {
        let head = self.head(slot)
        self.releaseGroups(head)
        self.scratch.removeAll(keepingCapacity: true)
        self.copyText(of: slot, into: &self.scratch)
        self.scratch.removeLast(head.configurationCount)
        self.keep(slot, Head(family: head.family, text: head.text, idCount: head.idCount))
    }

    private mutating func releaseGroups(_ head: Head) {
        self.particulars.release(head.particulars)
        self.content.release(head.content)
        self.observed.release(head.observed)
    }

    /// Takes back an instance under its number.
    @inline(__always)
    mutating func restore(_ slot: UInt32, _ whole: consuming Whole, _ configuration: Configuration) {
        var head = Head(confirmedBy: whole.confirmedBy)
        if let particulars = whole.particulars { head.particulars = self.particulars.keep(particulars) }
        if let content = whole.content { head.content = self.content.keep(content) }
        if let observed = whole.observed { head.observed = self.observed.keep(observed) }
        self.makeRoom(below: slot + 1)
        self.insert(slot, whole.row, configuration, head)
    }

    /// Makes the table as long as it was, once its last row was taken back.
    mutating func finishRestoring(end: Int) { self.makeRoom(below: UInt32(end)) }

    // MARK: Packing

    @inline(__always)
    private func reader(_ slot: UInt32) -> FieldReader? {
        let place = self.places[Int(slot)]
        return place < PackedCells.end ? self.cells.reader(of: place) : nil
    }

    @inline(__always)
    private func head(_ slot: UInt32) -> Head {
        guard var reader = self.reader(slot) else { return Head() }
        return Head().packed(by: &reader)
    }

    /// Appends the id of an instance, and its configuration's packed form.
    @inline(__always)
    private func copyText(of slot: UInt32, into text: inout [UInt8]) {
        guard var reader = self.reader(slot) else { return }
        let head = Head().packed(by: &reader)
        guard head.text == SideTable<Text>.none else { return text += self.texts[head.text].bytes }
        var left = head.textCount
        text.append(addingCapacity: left) { output in
            while left > 0 {
                let count = min(8, left)
                let word = reader.bytes(count)
                for offset in 0..<count { output.append(UInt8(truncatingIfNeeded: word &>> UInt64(offset &* 8))) }
                left &-= count
            }
        }
    }

    /// Packs an instance with the text that it has.
    private mutating func replace(_ slot: UInt32, _ head: Head) {
        self.scratch.removeAll(keepingCapacity: true)
        self.copyText(of: slot, into: &self.scratch)
        self.keep(slot, head)
    }

    /// Packs an instance with the text that is in ``scratch``.
    private mutating func keep(_ slot: UInt32, _ head: Head) {
        var head = head
        self.texts.release(head.text)
        head.text = SideTable<Text>.none
        if self.scratch.count > Self.textMax { head.text = self.texts.keep(Text(bytes: self.scratch)) }
        var writer = FieldWriter()
        _ = head.packed(by: &writer)
        if head.text == SideTable<Text>.none { writer.append(self.scratch.span) }
        let place = self.places[Int(slot)]
        if place < PackedCells.end { self.cells.release(place) }
        guard let number = self.cells.insert(&writer) else {
            preconditionFailure("ids and configurations of a partition take more than five gigabytes")
        }
        self.places[Int(slot)] = number
    }

    /// What does not hold of what must always hold: every row of a group is one instance's. O(instances).
    ///
    /// - Parameter slots: The numbers in use.
    func checkInvariants(of slots: [UInt32]) -> [String] {
        func check(_ group: String, _ rows: Int, _ number: (Head) -> UInt32) -> String? {
            let numbers = slots.map { number(self.head($0)) }.filter { $0 != UInt32.max }
            guard numbers.count != rows || Set(numbers).count != rows else { return nil }
            return "\(rows) rows of \(group), but \(numbers.count) instances have \(Set(numbers).count)"
        }
        return [
            check("particulars", self.particulars.count, \.particulars),
            check("content", self.content.count, \.content),
            check("observed", self.observed.count, \.observed),
            check("texts", self.texts.count, \.text),
        ].compactMap { $0 }
    }
}
