package import Journaling
package import WidgetModel

extension LogDirectory: EndedLog {
    package func newestOutputs(_ partition: PartitionID, max: Int) throws(JournalError) -> [OutputEntry] {
        guard let newest = try self.newestOutput(partition)?.position.rawValue else { return [] }
        var next = OutputPosition(newest > UInt64(max) ? newest - UInt64(max) + 1 : 1)
        var outputs: [OutputEntry] = []
        while case let more = try self.readOutputs(partition, from: next, outputsMax: max), let last = more.last {
            outputs += more
            next = last.position.next
        }
        return outputs
    }
}
