import Logging
import Settings
import Synchronization

/// One subsystem's messages: from which level on they are written, and how many were.
final class SubsystemLog: Sendable {
    let subsystem: LogSubsystem
    /// Writes the messages that get through.
    let backend: any LogHandler
    private let place: Atomic<Int>
    private let written = Atomic<Int>(0)
    private let repeated = Atomic<Int>(0)

    init(_ subsystem: LogSubsystem, _ level: GatewayConfiguration.Log.Level, backend: any LogHandler) {
        self.subsystem = subsystem
        self.backend = backend
        self.place = Atomic(Self.place(of: level))
    }

    /// Messages of this level and above are written. May change at any time; a message in work is judged by either.
    var level: GatewayConfiguration.Log.Level {
        get { GatewayConfiguration.Log.Level.allCases[self.place.load(ordering: .relaxed)] }
        set { self.place.store(Self.place(of: newValue), ordering: .relaxed) }
    }

    private static func place(of level: GatewayConfiguration.Log.Level) -> Int {
        GatewayConfiguration.Log.Level.allCases.firstIndex(of: level) ?? 0
    }

    /// Messages that were written, and those that were only counted.
    var counts: (written: Int, repeated: Int) {
        (self.written.load(ordering: .relaxed), self.repeated.load(ordering: .relaxed))
    }

    func write(_ event: LogEvent) {
        self.written.wrappingAdd(1, ordering: .relaxed)
        self.backend.log(event: event)
    }

    func countRepeated() {
        self.repeated.wrappingAdd(1, ordering: .relaxed)
    }
}
