import IntentMatching
import WidgetModel

extension InstanceDetails.ColdFields {
    /// Bytes of the tags, 16 for each beside, and of the condition as it is logged. O(bytes).
    var textBytes: Int {
        let tags = self.tags.reduce(0) { $0 + $1.utf8.count + 16 }
        guard let when = self.when else { return tags }
        var writer = ByteWriter()
        when.encode(into: &writer)
        return tags + writer.bytes.count
    }
}
