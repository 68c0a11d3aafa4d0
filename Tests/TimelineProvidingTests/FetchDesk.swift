import Engine
import IntentMatching
import Ownership
import TestSupport
import TimelineProviding
import Timelines
import WidgetModel

/// A fetch machine beside an engine, which answers its questions at once; a test plays the provider.
final class FetchDesk {
    static let app = BundleID("com.example.scores")
    static let kind = WidgetKind("scores")
    static let partition = PartitionID(0)

    private var engine = Engine(partition: partition, partitions: 1, seed: 1)
    private var position = LogPosition.start
    var machine: FetchMachine
    var now = Fixtures.start
    /// The reloads that the engine has issued.
    private(set) var issued: [ReloadID] = []
    /// Whether the engine does not answer.
    var isSilent = false
    var hasPlaceholder = true
    /// The widgets whose content is here.
    var contents: Set<InstanceAddress> = []
    /// How often the engine was searched.
    private(set) var searches = 0

    init(widgets: Int, asks: Bool = true, _ change: (inout FetchLimits) -> Void = { _ in }) throws {
        var limits = FetchLimits()
        change(&limits)
        self.machine = FetchMachine(limits: limits, name: "com.example.scores/scores", asks: asks)
        let schema = try KindSchema(kind: Self.kind, parameters: [])
        let kind = KindSettings(schema: schema, budget: .unlimited)
        let app = AppSettings(app: Self.app, team: TeamID("ABCDE12345"), kinds: [kind])
        try self.apply(.settings(EngineSettings(apps: [app])))
        for number in 0..<widgets {
            let host = HostKey(app: Self.app, id: HostID("host-\(number)"))
            let widget = InstanceRegistration(id: InstanceID("a"), kind: Self.kind, family: .systemSmall)
            try self.apply(
                .register(
                    HostRegistration(
                        host: host,
                        token: DeviceToken(bytes: Array("\(number)".utf8)),
                        revision: 1,
                        instances: [widget]
                    )
                )
            )
        }
    }

    /// Applies a record, and notes the reloads that it issues.
    @discardableResult
    func apply(_ record: Record) throws -> RecordAnswer.Result? {
        let bytes = record.bytes
        var output = EngineOutput()
        self.position = self.position.next
        try self.engine.apply(
            bytes,
            in: 0..<bytes.count,
            recordIndex: 0,
            at: self.position,
            logTime: self.now,
            into: &output
        )
        for case .reload(let reload) in output.effects { self.issued.append(reload.id) }
        return output.answers.first?.result
    }

    /// Has all widgets reload once more.
    func reloadAll() throws { try self.apply(.appReload(AppReloadRequest(app: Self.app))) }

    func isOut(_ reload: ReloadID) -> Bool { ReloadEffect.find(reload, in: self.engine) != nil }

    /// The charges of the first widget.
    var charged: Int? {
        let host = HostKey(app: Self.app, id: HostID("host-0"))
        return self.engine.instance(InstanceAddress(host: host, instance: InstanceID("a")))?.budget.charged
    }

    func subjects(_ reloads: [ReloadID]) -> [FetchSubject] {
        reloads.compactMap { FetchSubject.find($0, in: self.engine) }
    }

    /// Carries out the machine's questions to the engine, and gives its other actions; placeholders to show are left out.
    @discardableResult
    func run() -> [FetchAction] {
        var others: [FetchAction] = []
        while let action = self.machine.next(now: self.now) {
            switch action {
            case .findSubjects(let partition, let reloads):
                let subjects = self.isSilent ? nil : self.subjects(reloads)
                self.machine.takeSubjects(subjects, of: reloads, in: partition, now: self.now) { _ in
                    self.hasPlaceholder
                }
            case .findWanted(let exchange, let reloads):
                self.machine.takeWanted(self.wanted(reloads), of: exchange, now: self.now)
            case .search(let search, let limit):
                self.searches += 1
                let (finds, next) = self.find(search, limit)
                self.machine.takeFinds(finds, in: search, next: next, now: self.now)
            case .showPlaceholder: continue
            default: others.append(action)
            }
        }
        return others
    }

    private func wanted(_ reloads: [ReloadID]) -> FetchWanted {
        guard !self.isSilent else { return FetchWanted(unknown: Set(reloads)) }
        let subjects = self.subjects(reloads)
        let shown = ReloadQuestion<ShownTimeline>(reloads).answer(from: self.engine).compactMap(\.self)
        return FetchWanted(subjects: subjects, shown: self.lacking(shown))
    }

    private func lacking(_ shown: [ShownTimeline]) -> [ShownTimeline] {
        shown.filter { !self.contents.contains($0.subject.address) }
    }

    private func find(_ search: FetchSearch, _ limit: Int) -> (FetchFinds, FetchSearch?) {
        guard !self.isSilent else { return (.silence, nil) }
        switch search {
        case .reloads(let partition, let start, let through):
            let question = ReloadsQuestion(.app(Self.app), from: start, through: through, limit: limit)
            let page = question.answer(from: self.engine)
            let next = page.next.map { FetchSearch.reloads(partition, from: $0, through: page.through) }
            return (.reloads(page.reloads.map(\.id)), next)
        case .content(let partition, let place):
            let question = PageQuestion(ShownTimelines(of: Self.app, Self.kind), from: place, limit: limit)
            let page = question.answer(from: self.engine)
            return (.content(self.lacking(page.rows)), page.next.map { .content(partition, from: $0) })
        }
    }

    /// Answers a request with one timeline for each of some reloads.
    func answer(_ number: Int, _ reloads: [ReloadID], promises: Bool = false, saying text: String = "x") {
        let part = FetchPart.timeline(self.timeline(text))
        let parts = Dictionary(uniqueKeysWithValues: reloads.map { ($0, part) })
        let status = promises ? 202 : 200
        self.machine.takeAnswer(.parts(parts, status: status, isPromise: promises), to: number, now: self.now)
    }

    func timeline(_ text: String) -> ProvidedTimeline {
        let timeline = Timeline(
            entries: [TimelineEntry(date: Fixtures.start)],
            policy: .never,
            digest: Array(text.utf8)
        )
        return ProvidedTimeline(timeline: timeline, contents: [Array(text.utf8)])
    }

    /// Logs what is to be stored.
    func store(_ exchange: FetchExchange, _ timelines: [FetchedTimeline]) throws {
        var outcomes: [ReloadID: FetchStored.Outcome] = [:]
        for item in timelines {
            let result = try item.report.map { try self.apply(.timeline($0)) } ?? .timeline(findings: [])
            if case .timeline = result {
                outcomes[item.subject.reload] = .taken
            } else {
                outcomes[item.subject.reload] = .unwanted
            }
            self.contents.insert(item.subject.address)
        }
        self.machine.takeStored(.stored(outcomes), of: exchange, now: self.now)
    }
}

extension [FetchAction] {
    /// The requests among them: their numbers and reloads.
    var requests: [(number: Int, reloads: [ReloadID])] {
        self.compactMap {
            if case .send(let number, let subjects) = $0 { (number, subjects.map(\.reload)) } else { nil }
        }
    }

    /// What is to be stored, of one exchange.
    var stores: [(exchange: FetchExchange, timelines: [FetchedTimeline])] {
        self.compactMap { if case .store(let exchange, let timelines) = $0 { (exchange, timelines) } else { nil } }
    }
}
