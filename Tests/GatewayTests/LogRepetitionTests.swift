import Partitions
import Settings
import TestSupport
import Testing
import WidgetModel

/// Log messages that repeat themselves.
@Suite struct LogRepetitionTests {
    private typealias Message = LogRepetition.Message
    private typealias Summary = LogRepetition.Summary
    private typealias Verdict = LogRepetition.Verdict

    private static func message(_ text: String) -> Message { Message(.http, .debug, text) }
    private static func at(_ seconds: Int64) -> Instant { Instant(seconds: seconds) }

    @Test func `a message is written once in its window, and told to have come again when that ends`() {
        var repetition = LogRepetition(length: .seconds(10), windowsMax: 4)
        let message = Self.message("no room")
        #expect(repetition.takeMessage(message, at: Self.at(0)) == Verdict(isWritten: true))
        #expect(repetition.takeMessage(message, at: Self.at(1)) == Verdict(isWritten: false))
        #expect(repetition.takeMessage(message, at: Instant(milliseconds: 9999)) == Verdict(isWritten: false))
        #expect(repetition.end(at: Instant(milliseconds: 9999)) == [])
        #expect(repetition.end(at: Self.at(10)) == [Summary(message, times: 2)])
        #expect(repetition.end(at: Self.at(10)) == [])
        #expect(repetition.takeMessage(message, at: Self.at(10)) == Verdict(isWritten: true))
    }

    @Test func `the first message after a window tells what came in it, and opens another`() {
        var repetition = LogRepetition(length: .seconds(10), windowsMax: 4)
        let message = Self.message("no room")
        _ = repetition.takeMessage(message, at: Self.at(0))
        _ = repetition.takeMessage(message, at: Self.at(5))
        let verdict = repetition.takeMessage(message, at: Self.at(20))
        #expect(verdict == Verdict(isWritten: true, summaries: [Summary(message, times: 1)]))
        #expect(repetition.takeMessage(message, at: Self.at(29)) == Verdict(isWritten: false))
    }

    @Test func `what did not come again leaves no summary`() {
        var repetition = LogRepetition(length: .seconds(10), windowsMax: 4)
        _ = repetition.takeMessage(Self.message("once"), at: Self.at(0))
        #expect(repetition.end(at: Self.at(60)) == [])
    }

    @Test func `messages are the same if subsystem, level, text and details are`() {
        var repetition = LogRepetition(length: .seconds(10), windowsMax: 16)
        let messages = [
            Message(.http, .debug, "failed", ["peer": "1"]), Message(.http, .debug, "failed", ["peer": "2"]),
            Message(.http, .info, "failed", ["peer": "1"]), Message(.providers, .debug, "failed", ["peer": "1"]),
            Message(.http, .debug, "failed", ["peer": "1", "error": "x"]),
            Message(.http, .debug, "other", ["peer": "1"]),
        ]
        #expect(messages.map { repetition.takeMessage($0, at: Self.at(0)).isWritten } == messages.map { _ in true })
        #expect(messages.map { repetition.takeMessage($0, at: Self.at(1)).isWritten } == messages.map { _ in false })
        #expect(repetition.endAll() == messages.map { Summary($0, times: 1) })
    }

    @Test func `one window more than there may be ends the oldest, and says what it held`() {
        var repetition = LogRepetition(length: .seconds(10), windowsMax: 3)
        for name in ["a", "b", "c"] {
            _ = repetition.takeMessage(Self.message(name), at: Self.at(0))
            _ = repetition.takeMessage(Self.message(name), at: Self.at(0))
        }
        #expect(repetition.cut == 0)
        let verdict = repetition.takeMessage(Self.message("d"), at: Self.at(1))
        #expect(verdict == Verdict(isWritten: true, summaries: [Summary(Self.message("a"), times: 1)]))
        #expect(repetition.cut == 1)
        #expect(repetition.takeMessage(Self.message("b"), at: Self.at(1)) == Verdict(isWritten: false))
        #expect(repetition.endAll() == [Summary(Self.message("b"), times: 2), Summary(Self.message("c"), times: 1)])
    }

    @Test func `without a window everything is written`() {
        var repetition = LogRepetition(length: .zero, windowsMax: 1)
        let verdicts = (0..<3).map { _ in repetition.takeMessage(Self.message("again"), at: Self.at(0)) }
        #expect(verdicts == Array(repeating: Verdict(isWritten: true), count: 3))
    }

    @Test(arguments: [UInt64(1), 2, 3, 4, 5])
    func `every message is written or in one summary`(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        var repetition = LogRepetition(length: .seconds(5), windowsMax: 3)
        var now: Int64 = 0
        var taken: [String: Int] = [:]
        var told: [String: Int] = [:]
        func tell(_ summaries: [Summary]) {
            for summary in summaries { told[summary.message.text, default: 0] += summary.times }
        }
        for _ in 0..<2000 {
            now += Int64(Int.random(in: 0..<3, using: &dice))
            let text = "message \(Int.random(in: 0..<6, using: &dice))"
            let verdict = repetition.takeMessage(Self.message(text), at: Self.at(now))
            taken[text, default: 0] += 1
            tell(verdict.summaries)
            if verdict.isWritten { told[text, default: 0] += 1 }
            if Int.random(in: 0..<10, using: &dice) == 0 { tell(repetition.end(at: Self.at(now))) }
        }
        tell(repetition.endAll())
        #expect(told == taken, "seed \(seed)")
    }
}
