package import WidgetModel

/// Other settings for all decisions from now on, with the operators' change that they come from, if they come from one.
package struct SettingsChange: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.settings, \.base, \.amendment)

    /// First in the bytes, so that every version of the rules can tell which one they are of.
    package var settings: EngineSettings
    /// The ``Engine/settingsVersion`` that they were worked out from. If another one stands by then, nothing changes.
    ///
    /// Nil for the settings of a start, which are in force whatever stood before, and are no new version: partitions start one by one.
    package let base: Int?
    /// The change of an entry of the configuration by a request; nil for a start and for a reading of the file.
    package let amendment: Amendment?

    /// The settings of a start.
    package init(_ settings: EngineSettings) { self.init(settings, nil, nil) }

    /// Settings after a reading of the file or a change by a request, for all partitions.
    package init(_ settings: EngineSettings, from base: Int, with amendment: Amendment? = nil) {
        self.init(settings, base, amendment)
    }

    private init(_ settings: EngineSettings, _ base: Int?, _ amendment: Amendment?) {
        self.settings = settings
        self.base = base
        self.amendment = amendment
    }
}

extension Record {
    /// The settings of a start.
    package static func settings(_ settings: EngineSettings) -> Record { .settings(SettingsChange(settings)) }
}
