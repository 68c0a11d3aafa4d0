/// The limits of a session that are counted where they bite, by the names of their keys in the configuration.
///
/// ``HTTP2Limits`` says what each means. Those that end the connection come with an ``HTTP2Error``, the others as
/// events.
package enum HTTP2Limit: String, CaseIterable, Hashable, Sendable {
    case maxConcurrentStreams
    case maxHeaderBytes
    case maxHeaderFields
    case maxHeaderBytesReset
    case maxOversizedHeaders
    case maxContinuations
    case maxBodyBytes
    case maxDiscardedBytes
    case maxConnectionBytes
    case maxEmptyData
    case maxPaddingBytes
    case maxResets
    case maxStreamErrors
    case maxControlFrames
    case maxWindowUpdates
    case maxPriorityFrames
    case maxLateFrames
    case maxSettingsEntries
    case maxUnreadAcknowledgements
}

extension HTTP2Limits {
    /// The peer's excess in words, for the debug data of the GOAWAY and for the log.
    func explanation(of limit: HTTP2Limit) -> String {
        switch limit {
        case .maxConcurrentStreams:
            "more than \(self.concurrentStreamsMax) streams at once"
        case .maxHeaderBytes:
            "a header list of more than \(self.headerListBytesMax) bytes"
        case .maxHeaderFields:
            "more than \(self.fieldsMax) header fields"
        case .maxHeaderBytesReset, .maxOversizedHeaders:
            "\(self.oversizedHeaderListsMax) header lists of more than \(self.headerListBytesReset) bytes"
        case .maxContinuations:
            "more than \(self.continuationsMax) CONTINUATION frames"
        case .maxBodyBytes:
            "a body of more than \(self.bodyBytesMax) bytes"
        case .maxDiscardedBytes:
            "more than \(self.discardedBytesMax) bytes of a body after its answer"
        case .maxConnectionBytes:
            "more than \(self.heldBytesMax) bytes of unfinished requests and unread answers"
        case .maxEmptyData:
            "more than \(self.emptyDataFramesMax) empty DATA frames on one stream"
        case .maxPaddingBytes:
            "more than \(self.paddingBytesMax) bytes of padding on one stream"
        case .maxResets:
            Self.rate("RST_STREAM frames", self.streamResetBurst, self.streamResetsPerSecond)
        case .maxStreamErrors:
            Self.rate("stream errors", self.streamErrorBurst, self.streamErrorsPerSecond)
        case .maxControlFrames:
            Self.rate("PING, SETTINGS or GOAWAY frames", self.controlFrameBurst, self.controlFramesPerSecond)
        case .maxWindowUpdates:
            Self.rate("WINDOW_UPDATE frames", self.windowUpdateBurst, self.windowUpdatesPerSecond)
        case .maxPriorityFrames:
            Self.rate("PRIORITY or unknown frames", self.priorityFrameBurst, self.priorityFramesPerSecond)
        case .maxLateFrames:
            Self.rate("frames on streams that were reset", self.lateFrameBurst, self.lateFramesPerSecond)
        case .maxSettingsEntries:
            "more than \(self.settingsEntriesMax) entries in a SETTINGS frame"
        case .maxUnreadAcknowledgements:
            "more than \(self.outboundAcknowledgementsMax) acknowledgements wait to be read"
        }
    }

    private static func rate(_ frames: String, _ burst: Int, _ perSecond: Int) -> String {
        "more than \(burst) \(frames) at once, or \(perSecond) a second"
    }
}
