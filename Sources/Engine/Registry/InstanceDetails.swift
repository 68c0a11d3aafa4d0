import IntentMatching
import Storage
import Timelines
import WidgetModel

/// The details of the instances of a partition, by their number, which decisions seldom need.
///
/// Every instance has an id, a family and a configuration. Fields that only some have are in side tables, group by group: an instance that
/// never had a field of a group reads its defaults and takes no memory for it.
struct InstanceDetails: ~Copyable, Sendable {
    /// The fields that every instance has beside its configuration.
    struct Row: Sendable {
        let id: InstanceID
        var family: WidgetFamily
    }

    /// The row of an instance in the table: numbers of the rows that are kept elsewhere.
    struct Head {
        /// Where the state of its content is known from: the position of the reload that brought it, or of the report that said it.
        var confirmedBy = LogPosition.start
        /// The numbers of its groups, if it has any.
        var coldFields = Number<ColdFields>.none
        var content = Number<Content>.none
        var observed = Number<Observed>.none
        /// Its id, and behind it its configuration's code.
        var text = TextNumber.none
        var configurationCount: UInt32 = 0
        var idCount: UInt16 = 0
        var family = WidgetFamily.systemSmall

        var textCount: Int { Int(self.idCount) + Int(self.configurationCount) }
    }

    /// Rarely used registration fields.
    struct ColdFields: SideRow {
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
        /// Bytes of the tags, 16 for each beside, and of the condition as it is logged. O(bytes).
        var textBytes: Int { self.tags.reduce(self.when?.encoded.count ?? 0) { $0 + $1.utf8.count + 16 } }
    }

    /// The state of content that an instance shows, and will.
    struct Content: SideRow {
        /// The digest as far as it is confirmed; ``InstanceDetails/confirmedBy(of:)`` says by which reload or report.
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

    /// Events of an instance beside the reloads that it was given.
    struct Observed: SideRow {
        /// When it was last looked at.
        var viewedAt = Instant.distantPast
        /// When the system last reloaded it by itself.
        var systemChangeAt = Instant.distantPast
        /// When a reload that its host has yet to report, its own or after a push to its token, was booked.
        var awaitsReport = Instant.distantPast
        /// Whether it reloads when it is next looked at.
        var awaitsLook = false
        var observedReloads: UInt32 = 0
        /// Reloads that pushes for other instances with the same token brought, within the budget and beyond it.
        var collateralReloads: UInt32 = 0
        var collateralOverReloads: UInt32 = 0

        var isBlank: Bool {
            self.viewedAt == .distantPast && self.systemChangeAt == .distantPast && self.awaitsReport == .distantPast
                && !self.awaitsLook && self.observedReloads == 0
                && self.collateralReloads == 0 && self.collateralOverReloads == 0
        }
    }

    /// All of one instance but its configuration, as it is written and read: nil is a group without a row. A row that is blank
    /// again is kept here, and not written.
    struct Whole {
        var row: Row
        var confirmedBy = LogPosition.start
        var coldFields: ColdFields?
        var content: Content?
        var observed: Observed?
    }

    private(set) var heads = RowChunks<Head>()
    private(set) var texts = TextStore()
    private var coder = ConfigurationCoder()
    private(set) var coldFields = SideTable<ColdFields>()
    private(set) var content = SideTable<Content>()
    private(set) var observed = SideTable<Observed>()
    /// Memory that is used again.
    private var scratch: [UInt8] = []

    /// No rows.
    init() {}

    /// Room for about this number of rows that are read back, see ``restore(_:_:_:)``.
    init(expecting rows: Int) {
        self.heads.expect(rows)
    }

    /// Bytes of memory held by the fields that every instance has.
    var byteCount: Int { self.heads.byteCount + self.texts.byteCount }
    /// Bytes of memory held by the side tables.
    var sideByteCount: Int { self.coldFields.byteCount + self.content.byteCount + self.observed.byteCount }

    @inline(__always)
    subscript(coldFields slot: InstanceNumber) -> ColdFields {
        _read { yield self.coldFields[self.heads[slot.index].coldFields] }
        _modify {
            let number = self.heads[slot.index].coldFields
            if !number.isNone {
                yield &self.coldFields[number]
            } else {
                var first = ColdFields()
                yield &first
                self.heads[slot.index].coldFields = self.coldFields.keep(first)
            }
        }
    }

    @inline(__always)
    subscript(content slot: InstanceNumber) -> Content {
        _read { yield self.content[self.heads[slot.index].content] }
        _modify {
            let number = self.heads[slot.index].content
            if !number.isNone {
                yield &self.content[number]
            } else {
                var first = Content()
                yield &first
                self.heads[slot.index].content = self.content.keep(first)
            }
        }
    }

    @inline(__always)
    subscript(observed slot: InstanceNumber) -> Observed {
        _read { yield self.observed[self.heads[slot.index].observed] }
        _modify {
            let number = self.heads[slot.index].observed
            if !number.isNone {
                yield &self.observed[number]
            } else {
                var first = Observed()
                yield &first
                self.heads[slot.index].observed = self.observed.keep(first)
            }
        }
    }

    /// The cold fields, nil for the many that have none: a registration asks for those of all its instances.
    @inline(__always)
    func coldFields(of slot: InstanceNumber) -> ColdFields? {
        let number = self.heads[slot.index].coldFields
        return number.isNone ? nil : self.coldFields[number]
    }

    func whole(_ slot: InstanceNumber) -> Whole {
        let head = self.heads[slot.index]
        var whole = Whole(row: Row(id: self.id(of: slot), family: head.family), confirmedBy: head.confirmedBy)
        if !head.coldFields.isNone { whole.coldFields = self.coldFields[head.coldFields] }
        if !head.content.isNone { whole.content = self.content[head.content] }
        if !head.observed.isNone { whole.observed = self.observed[head.observed] }
        return whole
    }

    /// The entry from which the state of an instance's content is known: nearly every instance has one, for every acknowledged reload is
    /// news of it.
    @inline(__always)
    func confirmedBy(of slot: InstanceNumber) -> LogPosition { self.heads[slot.index].confirmedBy }

    mutating func setConfirmedBy(of slot: InstanceNumber, _ position: LogPosition) {
        self.heads[slot.index].confirmedBy = position
    }

    @inline(__always)
    func family(of slot: InstanceNumber) -> WidgetFamily { self.heads[slot.index].family }

    /// O(bytes).
    func id(of slot: InstanceNumber) -> InstanceID {
        self.withID(of: slot) { bytes in
            guard let id = String(utf8: bytes) else { preconditionFailure("an id that is no text was kept") }
            return InstanceID(id)
        }
    }

    /// Lends the bytes of an instance's id, in UTF-8.
    @inline(__always)
    func withID<Result>(of slot: InstanceNumber, _ body: (Span<UInt8>) -> Result) -> Result {
        self.withText(of: slot) { head, text in body(text.extracting(first: Int(head.idCount))) }
    }

    /// How many bytes an instance's id, coded configuration, tags and condition take. O(1) where it has neither tags nor a
    /// condition.
    func textBytes(of slot: InstanceNumber) -> Int {
        let head = self.heads[slot.index]
        guard !head.coldFields.isNone else { return head.textCount }
        return head.textCount + self.coldFields[head.coldFields].textBytes
    }

    // MARK: Configurations

    /// O(size).
    func configuration(of slot: InstanceNumber) -> Configuration {
        self.withText(of: slot) { head, text in
            self.coder.decode(Array(copying: text.extracting(droppingFirst: Int(head.idCount))))
        }
    }

    /// Whether an instance is configured like that. Mutating, though nothing visible is changed: the memory that it needs is used again.
    /// O(size).
    mutating func isConfigured(_ slot: InstanceNumber, as configuration: Configuration) -> Bool {
        self.coder.encode(configuration)
        let code = self.coder.bytes.span
        let hasCode = self.withText(of: slot) { head, text in
            text.extracting(droppingFirst: Int(head.idCount)).equals(code)
        }
        if hasCode { return true }
        return configuration.hasFractions && self.configuration(of: slot) == configuration
    }

    mutating func setConfiguration(of slot: InstanceNumber, _ configuration: Configuration) {
        self.coder.encode(configuration)
        self.copyID(of: slot)
        self.scratch += self.coder.bytes
        self.keepText(of: slot, configurationCount: self.coder.bytes.count)
    }

    // MARK: Rows

    /// Takes in an instance under a number that has none.
    mutating func insert(_ slot: InstanceNumber, _ row: Row, _ configuration: Configuration = .empty) {
        self.makeRoom(below: slot.index + 1)
        self.insert(slot, row, configuration, Head())
    }

    private mutating func insert(_ slot: InstanceNumber, _ row: Row, _ configuration: Configuration, _ head: Head) {
        self.heads[slot.index] = head
        self.heads[slot.index].family = row.family
        self.coder.encode(configuration)
        self.scratch.removeAll(keepingCapacity: true)
        self.scratch.append(copying: row.id.rawValue.utf8.span)
        precondition(self.scratch.count <= InstanceRegistration.idBytesMax, "too long an id")
        self.heads[slot.index].idCount = UInt16(self.scratch.count)
        self.scratch += self.coder.bytes
        self.keepText(of: slot, configurationCount: self.coder.bytes.count)
    }

    mutating func makeRoom(below end: Int) {
        guard end > self.heads.count else { return }
        self.heads.append(repeating: Head(), count: end - self.heads.count)
    }

    mutating func setFamily(of slot: InstanceNumber, _ family: WidgetFamily) { self.heads[slot.index].family = family }

    /// Leaves nothing of an instance.
    mutating func release(_ slot: InstanceNumber) {
        let head = self.heads[slot.index]
        self.releaseGroups(head)
        self.texts.release(head.text, count: head.textCount)
        self.heads[slot.index] = Head()
    }

    /// Leaves an instance its id and its family.
    mutating func clear(_ slot: InstanceNumber) {
        let head = self.heads[slot.index]
        self.releaseGroups(head)
        self.copyID(of: slot)
        self.keepText(of: slot, configurationCount: 0)
        self.heads[slot.index] = Head(text: self.heads[slot.index].text, idCount: head.idCount, family: head.family)
    }

    private mutating func releaseGroups(_ head: Head) {
        self.coldFields.release(head.coldFields)
        self.content.release(head.content)
        self.observed.release(head.observed)
    }

    /// Takes back an instance under its number.
    @inline(__always)
    mutating func restore(_ slot: InstanceNumber, _ whole: consuming Whole, _ configuration: Configuration) {
        var head = Head(confirmedBy: whole.confirmedBy)
        if let coldFields = whole.coldFields { head.coldFields = self.coldFields.keep(coldFields) }
        if let content = whole.content { head.content = self.content.keep(content) }
        if let observed = whole.observed { head.observed = self.observed.keep(observed) }
        self.makeRoom(below: slot.index + 1)
        self.insert(slot, whole.row, configuration, head)
    }

    // MARK: Texts

    /// Lends an instance's text: its id, and behind it its configuration's code.
    @inline(__always)
    private func withText<Result>(of slot: InstanceNumber, _ body: (Head, Span<UInt8>) -> Result) -> Result {
        let head = self.heads[slot.index]
        return self.texts.withBytes(head.text, count: head.textCount) { body(head, $0) }
    }

    /// Leaves the id of an instance in ``scratch``.
    private mutating func copyID(of slot: InstanceNumber) {
        var scratch = self.scratch
        self.scratch = []
        scratch.removeAll(keepingCapacity: true)
        self.withID(of: slot) { scratch.append(copying: $0) }
        self.scratch = scratch
    }

    /// Gives an instance the text that is in ``scratch``.
    private mutating func keepText(of slot: InstanceNumber, configurationCount: Int) {
        let head = self.heads[slot.index]
        self.texts.release(head.text, count: head.textCount)
        let text = self.scratch
        self.heads[slot.index].text = self.texts.insert(text.span)
        self.heads[slot.index].configurationCount = UInt32(configurationCount)
    }

    /// The violated invariants: every row of a group must be one instance's. O(instances).
    ///
    /// - Parameter slots: The numbers in use.
    func checkInvariants(of slots: [InstanceNumber]) -> [String] {
        func check<Tag>(_ group: String, _ rows: Int, _ number: (Head) -> Number<Tag>) -> String? {
            let numbers = slots.map { number(self.heads[$0.index]) }.filter { !$0.isNone }
            guard numbers.count != rows || Set(numbers).count != rows else { return nil }
            return "\(rows) rows of \(group), but \(numbers.count) instances have \(Set(numbers).count)"
        }
        return [
            check("coldFields", self.coldFields.count, \.coldFields),
            check("content", self.content.count, \.content),
            check("observed", self.observed.count, \.observed),
            check("texts", self.texts.count, \.text),
        ].compactMap { $0 }
    }
}
