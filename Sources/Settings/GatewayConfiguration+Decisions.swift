package import WidgetModel

extension GatewayConfiguration {
    /// The store of decisions beside the log, which keeps them once engines have no room for them any more.
    package struct Decisions: Hashable, Sendable {
        /// How many bytes of them, 0 for none. Default 1 GiB.
        package var bytesMax = 1_073_741_824
        /// How long one is kept. Default 48 h.
        package var ageMax = Interval.hours(48)

        package init() {}

        package var isOn: Bool { self.bytesMax > 0 }
    }
}

extension GatewayConfiguration.Decisions {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.scalar("maxBytes", &self.bytesMax, .bytes(0...1_125_899_906_842_624))
        visitor.scalar("maxAge", &self.ageMax, .duration(.minutes(1) ... .days(365)))
    }
}
