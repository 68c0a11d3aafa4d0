import Engine
import Journaling
import Ownership
import WidgetModel

extension InstanceTrace {
    /// Looks up in the outputs which number the instance had in the gateway when each of its reloads was issued.
    ///
    /// O(log outputs) for each reload.
    mutating func findNumbers(in history: any LogHistory) throws {
        var positions = Set(self.last?.outstanding.map(\.id.position) ?? [])
        for step in self.steps {
            if let reload = step.reload { positions.insert(reload.id.position) }
            for reload in step.ended { positions.insert(reload.position) }
        }
        for push in self.pushes {
            for change in push.changes { if let reload = change.reload { positions.insert(reload.position) } }
        }
        for position in positions {
            if let number = try self.number(at: position, in: history) { self.numbers[position] = number }
        }
    }

    /// The instance's number in the effect that was issued for it at a position; nil if no output has it.
    private func number(at position: LogPosition, in history: any LogHistory) throws -> InstanceNumber? {
        var place = try self.firstOutput(through: position, in: history)
        if let output = try history.readOutputs(self.partition, from: place, outputsMax: 1).first {
            if let number = self.number(at: position, among: output.record) { return number }
            place = output.position
        }
        // The effects of one entry may be in several outputs: chunks that stand before the one that goes as far as the entry, and
        // that say how far the outputs before them went.
        while place > .first {
            place = OutputPosition(place.rawValue - 1)
            let output = try history.readOutputs(self.partition, from: place, outputsMax: 1).first
            guard let output, output.position == place, output.record.ahead > 0 else { return nil }
            if let number = self.number(at: position, among: output.record) { return number }
        }
        return nil
    }

    private func number(at position: LogPosition, among output: OutputRecord) -> InstanceNumber? {
        let reloads = ((try? output.readEffects()) ?? []).lazy.flatMap(\.reloads)
        return reloads.first { $0.id.position == position && $0.address == self.address }?.id.instance
    }

    /// The first output that goes as far as an entry, or the place behind the last.
    private func firstOutput(through position: LogPosition, in history: any LogHistory) throws -> OutputPosition {
        var low = OutputPosition.first.rawValue
        var step: UInt64 = 1
        while try self.isBefore(position, OutputPosition(low + step), in: history) {
            low += step
            step *= 2
        }
        var high = low + step
        while low < high {
            let middle = low + (high - low) / 2
            if try self.isBefore(position, OutputPosition(middle), in: history) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return OutputPosition(low)
    }

    /// Whether there is an output from a place on, and it does not go as far as an entry.
    private func isBefore(
        _ position: LogPosition,
        _ place: OutputPosition,
        in history: any LogHistory
    ) throws -> Bool {
        guard let output = try history.readOutputs(self.partition, from: place, outputsMax: 1).first else {
            return false
        }
        return output.record.through < position
    }
}
