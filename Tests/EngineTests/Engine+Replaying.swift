import Engine
import WidgetModel

extension Engine {
    /// Applies one record of a scene's log, as a replay would.
    mutating func apply(
        _ entry: (record: Record, at: LogPosition, time: Instant),
        into output: inout EngineOutput
    ) throws(EngineError) {
        let bytes = entry.record.bytes
        try self.apply(
            bytes,
            in: 0..<bytes.count,
            recordIndex: 0,
            at: entry.at,
            logTime: entry.time,
            into: &output
        )
    }
}
