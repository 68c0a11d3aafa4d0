import TestSupport
import Testing
import Timelines
import WidgetModel

/// The windows by their definition: the whole history of views, and the quietest hour read off it.
private struct WindowsModel {
    var start: Int64
    var length: Int64 = 24
    var views: [Int] = Array(repeating: 0, count: 24)

    mutating func openNext() {
        self.start += self.length
        self.views = self.views.map { $0 - ($0 + 7) / 8 }
        let here = Int(self.start % 24)
        let fewest = self.views.min() ?? 0
        func arc(_ hour: Int) -> Int {
            let ahead = (hour - here + 24) % 24
            return ahead <= 12 ? ahead : ahead - 24
        }
        // The nearest of the quietest hours, the later of two.
        let quietest = (0..<24).filter { self.views[$0] == fewest }
        let best = quietest.map(arc).min { (abs($0), -$0) < (abs($1), -$1) } ?? 0
        self.length = 24 + Int64(best.signum())
    }
}

@Suite struct TunedWindowsTests {
    private static let host = HostKey("phone-17")

    @Test func `a host about which nothing is known has days that a hash anchors`() {
        var windows = TunedWindows(host: Self.host, at: noon)
        let anchor = BudgetWindow.anchor(of: Self.host)
        for day in 0..<40 as Range<Int64> {
            #expect(windows.window == .containing(noon + .days(day), anchoredAt: anchor))
            windows.openNext()
        }
    }

    @Test func `the start goes to the quietest hour by an hour a day, the shorter way, and stays`() {
        var windows = TunedWindows(host: Self.host, at: noon)
        let first = windows.window.start.seconds / 3600 % 24
        let quiet = (first + 5) % 24
        var starts: [Int64] = []
        for _ in 0..<8 {
            let day = windows.window
            for hour in 0..<24 as Range<Int64> {
                let at = day.start + .hours(hour)
                if at.seconds / 3600 % 24 != quiet, day.contains(at) { windows.noteView(at: at) }
            }
            windows.openNext()
            starts.append((windows.window.start.seconds / 3600 % 24 - first + 24) % 24)
        }
        #expect(starts == [0, 1, 2, 3, 4, 5, 5, 5])
        #expect(
            windows.window.start.seconds / 60 % 60 == noon.seconds / 60 % 60
                + Int64(BudgetWindow.anchor(of: Self.host) % 60)
        )
    }

    @Test(arguments: Seeds.from(0, count: 64))
    func `windows are those of the model, 23 to 25 hours long, one after the other`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var windows = TunedWindows(host: HostKey("host-\(seed)"), at: noon)
        let minute = windows.window.start.seconds / 60 % 60
        var model = WindowsModel(start: windows.window.start.seconds / 3600)
        for _ in 0..<60 {
            let window = windows.window
            let busiest = Int64.random(in: 0..<24, using: &random)
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                let at =
                    window.start
                    + .minutes(
                        min(
                            Int64.random(in: 0...(busiest + 1) * 60, using: &random),
                            window.length.milliseconds / 60_000 - 1
                        )
                    )
                windows.noteView(at: at)
                model.views[Int(at.seconds / 3600 % 24)] += 64
            }
            windows.openNext()
            model.openNext()
            #expect(windows.window.start == window.end, "seed \(seed)")
            #expect(
                windows.window
                    == BudgetWindow(
                        start: Instant(seconds: model.start * 3600 + minute * 60),
                        length: .hours(model.length)
                    ),
                "seed \(seed)"
            )
        }
    }

    @Test func `views are forgotten, so that a host that stopped telling keeps its days`() {
        var windows = TunedWindows(host: Self.host, at: noon)
        windows.noteView(at: windows.window.start)
        for _ in 0..<60 { windows.openNext() }
        #expect(windows.window.length == .day)
        let start = windows.window.start
        windows.openNext()
        #expect(windows.window == BudgetWindow(start: start + .day, length: .day))
    }

    @Test(arguments: Extremes.integers, [1, 1440, 1501, .max])
    func `windows that are read can open the next`(start: Int64, length: Int64) {
        var writer = ByteWriter()
        writer.write(signed: start)
        writer.write(signed: length)
        for hour in 0..<TunedWindows.hours { writer.write(varint: UInt64(hour)) }
        var reader = ByteReader(writer.bytes)
        guard var windows = try? TunedWindows(from: &reader) else {
            return #expect(start < -1440 || start > 1 << 40 || length > 1500)
        }
        let end = windows.end
        windows.openNext()
        #expect(windows.window.start == end)
    }

    @Test func `windows come back as they went in, whatever was looked at`() throws {
        var windows = TunedWindows(host: Self.host, at: noon)
        func bytes(_ windows: TunedWindows) -> [UInt8] {
            var writer = ByteWriter()
            windows.encode(into: &writer)
            return writer.bytes
        }
        // Nothing, an hour, another one, and nothing again.
        for step in 0..<70 {
            if step == 1 || step == 3 { windows.noteView(at: windows.window.start + .hours(Int64(step))) }
            let written = bytes(windows)
            var reader = ByteReader(written)
            var read = try TunedWindows(from: &reader)
            #expect(reader.isAtEnd)
            #expect(bytes(read) == written, "step \(step)")
            windows.openNext()
            read.openNext()
            #expect(bytes(read) == bytes(windows), "step \(step)")
            for count in 0..<written.count {
                var reader = ByteReader(Array(written.prefix(count)))
                #expect(throws: ByteError.self) { try TunedWindows(from: &reader) }
            }
        }
        #expect(bytes(windows).suffix(24) == Array(repeating: 0, count: 24)[...])
    }
}
