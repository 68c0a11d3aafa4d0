#if JetStream
import JournalStreams
import Journaling

extension StreamNames {
    /// - Throws: `.invalid` for a name that no cluster can have.
    init(of configuration: JetStreamJournal.Configuration) throws(JournalError) {
        guard let names = StreamNames(cluster: configuration.cluster) else {
            throw JournalError(
                .invalid,
                "the cluster's name \"\(configuration.cluster)\" is not 1 to 32 letters, digits and hyphens"
            )
        }
        self = names
    }
}
#endif
