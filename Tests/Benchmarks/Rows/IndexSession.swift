import CReading
import IntentMatching
import Storage
import TestSupport
import WidgetModel

/// An index of the population that answers commands on standard input, so that peers take turns with it:
///
///     match QUERY MILLISECONDS     ask, again and again; every id that comes out is read
///     reregister COUNT             so many instances get another team
///     steps COUNT                  the same, each timed by itself
///     remove COUNT                 so many instances go, each timed by itself
struct IndexSession: ~Copyable {
    private let population: Population
    /// All numbers in a random order, since hosts register in none.
    private let order: [Int]
    private var index = IntentIndex()
    private var version = 0

    /// Configurations are made in chunks that are not timed, of which the last is still in the processor's cache when it is
    /// registered, as a registration is that a gateway has just read.
    private static let chunk = 1024
    /// Instances that are registered together, as a log's entries are that a gateway takes up together.
    private static let together = 32

    init(_ count: Int, classes: Int? = nil) {
        self.population = Population(count: count, classes: classes)
        var dice = SplitMix64(seed: UInt64(count))
        self.order = (0..<count).shuffled(using: &dice)
    }

    mutating func run() throws {
        self.load()
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count > 1 else { break }
            switch words[0] {
            case "match": try self.match(words[1], milliseconds: words.count > 2 ? Int(words[2]) ?? 100 : 100)
            case "reregister": self.reregister(Int(words[1]) ?? 0)
            case "steps": self.steps(Int(words[1]) ?? 0)
            case "remove": self.remove(Int(words[1]) ?? 0)
            default: Report.line("unknown command", [:])
            }
        }
    }

    private mutating func load() {
        let before = Report.residentBytes()
        var seconds = 0.0
        seconds += Stopwatch.seconds { self.index.startLoading() }
        for start in stride(from: 0, to: self.population.count, by: Self.chunk) {
            let numbers = start..<min(start + Self.chunk, self.population.count)
            let configurations = numbers.map { Population.configuration(self.population.row($0)) }
            seconds += Stopwatch.seconds {
                let instances = configurations.indices.map { index in
                    PlainInstance(
                        InstanceNumber(start + index),
                        family: Population.family(start + index),
                        host: Population.host(start + index),
                        configuration: configurations[index]
                    )
                }
                self.index.insert(instances.span, app: Population.app, kind: Population.kind)
            }
        }
        seconds += Stopwatch.seconds { self.index.finishLoading() }
        let count = Double(self.population.count)
        Report.line(
            "load",
            [
                "perSecond": count / seconds, "bytes": Double(self.index.byteCount) / count,
                "resident": Double(Report.residentBytes() - before) / count,
            ]
        )
    }

    private mutating func insert(_ number: Int, _ configuration: Configuration) {
        self.index.insert(
            InstanceNumber(number),
            app: Population.app,
            kind: Population.kind,
            family: Population.family(number),
            host: Population.host(number),
            tags: [],
            configuration: configuration,
            pushEnabled: true
        )
    }

    private func match(_ name: String, milliseconds: Int) throws {
        let patterns = try IndexQueries.patterns(name, self.population)
        guard !patterns.isEmpty else { return Report.line("unknown query", [:]) }
        var hits = 0
        var sum: UInt64 = 0
        func ask(_ pattern: MatchPattern) {
            let hosts = Population.Hosts()
            var cursor = self.index.cursor(
                app: Population.app,
                kind: Population.kind,
                pattern: pattern,
                hosts: hosts,
                batchLimit: 4096
            )
            while self.index.next(&cursor, hosts) {
                hits += cursor.batch.count
                sum &+= Self.sum(cursor.batch.raw())
            }
        }
        var watch = Stopwatch()
        var next = 0
        watch.measure(.milliseconds(milliseconds)) {
            ask(patterns[next])
            next = next + 1 == patterns.count ? 0 : next + 1
        }
        // The answers to all of them, to be compared with those of others.
        hits = 0
        sum = 0
        for pattern in patterns { ask(pattern) }
        Report.line(
            name,
            [
                "hits": Double(hits) / Double(patterns.count), "sum": Double(sum), "p50": watch.quantile(0.5),
                "p99": watch.quantile(0.99),
                "least": watch.quantile(0), "runs": Double(watch.microseconds.count),
            ]
        )
    }

    /// Reads every id: what an answer is made for.
    private static func sum(_ batch: Span<UInt32>) -> UInt64 {
        unsafe batch.withUnsafeBufferPointer { unsafe creading_sum($0.baseAddress, $0.count) }
    }

    private mutating func reregister(_ count: Int) {
        self.version += 1
        var seconds = 0.0
        let all = min(count, self.population.count)
        for start in stride(from: 0, to: all, by: Self.chunk) {
            let places = (start..<min(start + Self.chunk, all)).map { self.order[$0] }
            let configurations = places.map { self.other($0) }
            let instances = places.map { InstanceNumber($0) }
            seconds += Stopwatch.seconds {
                for first in stride(from: 0, to: places.count, by: Self.together) {
                    let group = first..<min(first + Self.together, places.count)
                    self.index.prefetch(instances.span.extracting(group))
                    self.index.startChanges()
                    for index in group { self.insert(places[index], configurations[index]) }
                    self.index.finishChanges()
                }
            }
        }
        let bytes = Double(self.index.byteCount) / Double(self.population.count)
        Report.line("reregister", ["perSecond": Double(all) / seconds, "bytes": bytes])
    }

    private mutating func steps(_ count: Int) {
        self.version += 1
        var watch = Stopwatch()
        for number in 0..<min(count, self.population.count) {
            let place = self.order[number]
            let configuration = self.other(place)
            watch.add { self.insert(place, configuration) }
        }
        self.report("steps", watch)
    }

    private mutating func remove(_ count: Int) {
        var watch = Stopwatch()
        for number in 0..<min(count, self.population.count) {
            let place = self.order[number]
            watch.add { self.index.remove(InstanceNumber(place)) }
        }
        self.report("remove", watch)
    }

    private func report(_ row: String, _ watch: Stopwatch) {
        Report.line(
            row,
            [
                "p50": watch.quantile(0.5), "p99": watch.quantile(0.99), "p999": watch.quantile(0.999),
                "max": watch.quantile(1),
            ]
        )
    }

    private func other(_ number: Int) -> Configuration {
        Population.configuration(self.population.row(number, version: self.version))
    }
}
