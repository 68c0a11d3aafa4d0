package import Settings
import WidgetModel

extension HostStreams.Limits {
    package init(_ streams: GatewayConfiguration.Streams) {
        self.init()
        self.perScopeMax = streams.perHostMax
        self.allMax = streams.allMax
        self.bufferMax = streams.bufferMax
        self.historyMax = streams.historyMax
        self.rotationBeats = Int(streams.rotation.milliseconds / streams.heartbeat.milliseconds)
        self.retryMax = streams.retryMax
    }
}
