import HTTP2

extension HTTP2Limits {
    /// Shows a visitor the keys under `http2`: the limits of one connection. The other limits have keys under `limits`.
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        let million = 1_000_000
        visitor.scalar(HTTP2Limit.maxHeaderFields.rawValue, &self.fieldsMax, .integer(8...10_000))
        visitor.scalar(HTTP2Limit.maxHeaderBytesReset.rawValue, &self.headerListBytesReset, .bytes(1024...1_048_576))
        visitor.scalar(HTTP2Limit.maxOversizedHeaders.rawValue, &self.oversizedHeaderListsMax, .integer(1...1000))
        visitor.scalar(HTTP2Limit.maxContinuations.rawValue, &self.continuationsMax, .integer(0...1000))
        visitor.scalar(HTTP2Limit.maxDiscardedBytes.rawValue, &self.discardedBytesMax, .bytes(0...1_073_741_824))
        visitor.scalar(HTTP2Limit.maxEmptyData.rawValue, &self.emptyDataFramesMax, .integer(0...10_000))
        visitor.scalar(HTTP2Limit.maxPaddingBytes.rawValue, &self.paddingBytesMax, .bytes(0...1_073_741_824))
        visitor.scalar(HTTP2Limit.maxResets.rawValue, &self.streamResetBurst, .integer(1...million))
        visitor.scalar("resetsPerSecond", &self.streamResetsPerSecond, .integer(1...million))
        visitor.scalar(HTTP2Limit.maxStreamErrors.rawValue, &self.streamErrorBurst, .integer(1...million))
        visitor.scalar("streamErrorsPerSecond", &self.streamErrorsPerSecond, .integer(1...million))
        visitor.scalar(HTTP2Limit.maxControlFrames.rawValue, &self.controlFrameBurst, .integer(4...million))
        visitor.scalar("controlFramesPerSecond", &self.controlFramesPerSecond, .integer(1...million))
        visitor.scalar(HTTP2Limit.maxWindowUpdates.rawValue, &self.windowUpdateBurst, .integer(4...million))
        visitor.scalar("windowUpdatesPerSecond", &self.windowUpdatesPerSecond, .integer(1...million))
        visitor.scalar(HTTP2Limit.maxPriorityFrames.rawValue, &self.priorityFrameBurst, .integer(8...million))
        visitor.scalar("priorityFramesPerSecond", &self.priorityFramesPerSecond, .integer(1...million))
        visitor.scalar(HTTP2Limit.maxLateFrames.rawValue, &self.lateFrameBurst, .integer(1...million))
        visitor.scalar("lateFramesPerSecond", &self.lateFramesPerSecond, .integer(1...million))
        visitor.scalar(HTTP2Limit.maxSettingsEntries.rawValue, &self.settingsEntriesMax, .integer(7...1000))
        visitor.scalar(
            HTTP2Limit.maxUnreadAcknowledgements.rawValue,
            &self.outboundAcknowledgementsMax,
            .integer(1...10_000)
        )
    }
}

extension GatewayConfiguration {
    /// Faults of one limit beside another.
    func limitFaults() -> [(path: String, sentence: String)] {
        var faults: [(path: String, sentence: String)] = []
        if self.http2.headerListBytesReset < self.limits.headerBytesMax {
            let sentence =
                "must not be less than limits.maxHeaderBytes, above which requests are refused with an answer"
            faults.append(("http2.maxHeaderBytesReset", sentence))
        }
        let body = max(
            self.limits.deviceBodyBytesMax,
            self.limits.targetedBodyBytesMax,
            self.limits.bulkBytesMax,
            self.limits.hostBodyBytesMax,
            self.limits.importBytesMax
        )
        if self.limits.connectionBytesMax < body {
            let sentence = "must not be less than the largest body, \(body) bytes"
            faults.append(("limits.maxConnectionBytes", sentence))
        }
        if self.limits.listenerBytesMax < self.limits.connectionBytesMax {
            let sentence = "must not be less than limits.maxConnectionBytes, or one connection could end all others"
            faults.append(("limits.maxListenerBytes", sentence))
        }
        if self.streams.rotation < self.streams.heartbeat {
            let sentence = "must not be less than streams.heartbeat, since a stream ends at a heartbeat"
            faults.append(("streams.rotation", sentence))
        }
        return faults
    }
}
