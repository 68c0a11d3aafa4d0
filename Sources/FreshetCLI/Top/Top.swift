import APNSWire
import ArgumentParser
import Foundation
import UnixSignals

/// `freshet top`
struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show how a gateway does right now: freshness, flow, outcomes, and what senders cost.",
        discussion: """
            Refreshes in place on a terminal; elsewhere each reading is some plain lines. s changes what senders are \
            sorted by, q ends. What it shows is what the dashboard's first view shows.

              freshet top --context production
              freshet top --once --json

            Exit codes: 0 done, 1 the gateway does not answer (with --once), 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @Option(help: "Seconds from one reading to the next.") var interval = 2
    @Option(help: "What senders are sorted by: charged, pushes, matched, unchanged or name.") var sort = "charged"
    @Flag(help: "One reading, then end.") var once = false
    @Flag(help: "Print each reading as a line of JSON.") var json = false

    /// What `top` waits for.
    fileprivate enum Event: Sendable {
        case tick
        case key(UInt8)
        case stop
    }

    func validate() throws {
        guard (1...3600).contains(self.interval) else { throw ValidationError("--interval takes 1 to 3600 seconds") }
        guard TopScreen.Order(rawValue: self.sort) != nil else {
            throw ValidationError("--sort takes charged, pushes, matched, unchanged or name")
        }
    }

    func run() async throws {
        guard !self.once else {
            return try await self.gateway.ask { client in
                let reading = try await Self.read(client)
                var screen = self.makeScreen(client)
                screen.reading = reading
                self.show(reading, screen)
            }
        }
        let client = try self.gateway.client()
        var screen = self.makeScreen(client)
        let terminal = self.json ? nil : TerminalMode.enter()
        screen.hasKeys = terminal != nil
        screen.isStyled = terminal != nil && Screen.current.isStyled
        let fault = await self.follow(client, &screen, isTerminal: terminal != nil)
        terminal?.leave()
        await client.close()
        if let fault {
            Output.standardError(fault.sentence)
            throw ExitCode(2)
        }
    }

    private func makeScreen(_ client: OperatorClient) -> TopScreen {
        var screen = TopScreen(address: client.address)
        screen.order = TopScreen.Order(rawValue: self.sort) ?? .charged
        return screen
    }

    private static func read(_ client: OperatorClient) async throws(OperatorClient.Fault) -> TopReading {
        TopReading(stats: try await client.get("/v1/stats"), senders: try await client.get("/v1/senders"))
    }

    /// Reads and shows until somebody ends it, or the gateway refuses; the refusal.
    private func follow(
        _ client: OperatorClient,
        _ screen: inout TopScreen,
        isTerminal: Bool
    ) async -> OperatorClient.Fault? {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(64))
        let tasks = self.feed(continuation)
        defer {
            for task in tasks { task.cancel() }
            FileHandle.standardInput.readabilityHandler = nil
        }
        if isTerminal { Self.listen(continuation) }
        var last: ContinuousClock.Instant?
        for await event in events {
            switch event {
            case .stop, .key(UInt8(ascii: "q")), .key(UInt8(ascii: "Q")): return nil
            case .key(UInt8(ascii: "s")), .key(UInt8(ascii: "S")): screen.order = screen.order.next
            case .key: continue
            case .tick:
                do throws(OperatorClient.Fault) {
                    let reading = try await Self.read(client)
                    let now = ContinuousClock.now
                    if let before = screen.reading, let last {
                        let seconds = (now - last) / .seconds(1)
                        screen.rates = TopScreen.Rates(from: before, to: reading, seconds: seconds)
                    }
                    last = now
                    screen.away = nil
                    screen.reading = reading
                } catch {
                    guard error.isAway else { return error }
                    screen.away = error.sentence.split(separator: "\n").first.map(String.init) ?? error.sentence
                    screen.age = last.map { Int((ContinuousClock.now - $0) / .seconds(1)) } ?? 0
                }
            }
            self.draw(screen, isTerminal: isTerminal, isReading: event.isTick)
        }
        return nil
    }

    private func draw(_ screen: TopScreen, isTerminal: Bool, isReading: Bool) {
        if isTerminal {
            let size = TerminalMode.size
            let lines = screen.lines(columns: size.columns, rows: size.rows)
            TerminalMode.write("\u{1B}[H" + lines.joined(separator: "\u{1B}[K\n") + "\u{1B}[K\u{1B}[J")
        } else if isReading {
            if let away = screen.away {
                Output.standardError(away)
            } else if let reading = screen.reading {
                self.show(reading, screen)
            }
        }
    }

    private func show(_ reading: TopReading, _ screen: TopScreen) {
        if self.json {
            TerminalMode.write(String(decoding: reading.json.jsonText, as: UTF8.self) + "\n")
        } else {
            TerminalMode.write(screen.lines(columns: 1000, rows: 1000).joined(separator: "\n") + "\n\n")
        }
    }

    /// Lets the first reading come at once and the others in time, and signals end it.
    private func feed(_ continuation: AsyncStream<Event>.Continuation) -> [Task<Void, Never>] {
        let interval = Duration.seconds(self.interval)
        let ticking = Task {
            while !Task.isCancelled {
                continuation.yield(.tick)
                try? await Task.sleep(for: interval)
            }
        }
        let ending = Task {
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup) {
                continuation.yield(.stop)
            }
        }
        return [ticking, ending]
    }

    private static func listen(_ continuation: AsyncStream<Event>.Continuation) {
        FileHandle.standardInput.readabilityHandler = { handle in
            let data = handle.availableData
            // A terminal that has gone says so for ever.
            if data.isEmpty {
                handle.readabilityHandler = nil
                continuation.yield(.stop)
            }
            for byte in data { continuation.yield(.key(byte)) }
        }
    }
}

extension Top.Event {
    fileprivate var isTick: Bool {
        if case .tick = self { true } else { false }
    }
}
