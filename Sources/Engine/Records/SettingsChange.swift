package import WidgetModel

/// Other settings for all decisions from now on, an operator's change of an entry of the configuration, or both: all that comes of one
/// reading of the file or one request. Every partition gets it.
package struct SettingsChange: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.settings, \.base, \.amendment)

    /// Nil if they stay as they are, as where a team's keys change. First in the bytes, so that every version of the rules can tell which one
    /// they are of.
    package var settings: EngineSettings?
    /// The ``Engine/settingsVersion`` that it was worked out from. If another one stands by then, nothing changes.
    package var base: Int
    /// Nil for a reading of the file.
    package let amendment: Amendment?

    package init(_ settings: EngineSettings?, from base: Int, with amendment: Amendment? = nil) {
        self.settings = settings
        self.base = base
        self.amendment = amendment
    }
}
