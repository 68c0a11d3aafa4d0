package import WidgetModel

/// Other settings for all decisions from now on, an operator's change of an entry of the configuration, or both: all that comes of one
/// start, one reading of the file or one request.
package struct SettingsChange: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.settings, \.base, \.amendment)

    /// Nil if they stay as they are, as where a team's keys change. First in the bytes, so that every version of the rules can tell which one
    /// they are of.
    package var settings: EngineSettings?
    /// The ``Engine/settingsVersion`` that it was worked out from. If another one stands by then, nothing changes.
    ///
    /// Nil for the settings with which a partition starts, one by one. They are no version, and change nothing if there is one.
    package var base: Int?
    /// Nil for a start and for a reading of the file.
    package let amendment: Amendment?

    /// The settings with which a partition starts.
    package init(_ settings: EngineSettings) { self.init(settings, nil, nil) }

    /// What follows from a reading of the file or from a request, for all partitions.
    package init(_ settings: EngineSettings?, from base: Int, with amendment: Amendment? = nil) {
        self.init(settings, base, amendment)
    }

    private init(_ settings: EngineSettings?, _ base: Int?, _ amendment: Amendment?) {
        self.settings = settings
        self.base = base
        self.amendment = amendment
    }

    package var isPossible: Bool { self.base != nil || (self.settings != nil && self.amendment == nil) }
}

extension Record {
    /// The settings with which a partition starts.
    package static func settings(_ settings: EngineSettings) -> Record { .settings(SettingsChange(settings)) }
}
