package import IntentMatching
import Serving
package import Timelines
package import WidgetModel

/// A kind's relevance as its provider told it, WidgetKit's `WidgetRelevance`: as far as it can be known here.
package struct KindRelevance: Hashable, Sendable {
    /// Of one kind.
    package static let attributesMax = 10_000

    /// By priority. Without those that depend on facts that only a device knows, as a place or a workout.
    package private(set) var relevances: [Suggestions.Relevance] = []
    /// Attributes that are none: no configuration of the kind, or a date that is none. Those beyond ``attributesMax`` count, too.
    package private(set) var leftOut = 0

    /// - Parameters:
    ///   - value: The provider's answer to the question `relevance`.
    ///   - schema: The kind's; fills in the defaults.
    package init(_ value: JSONValue, _ schema: KindSchema) {
        guard case .array(let attributes) = value else {
            self.leftOut = 1
            return
        }
        for attribute in attributes.prefix(Self.attributesMax) {
            if let context = attribute["context"], context != .null { continue }
            if let relevance = Self.relevance(attribute, schema) {
                self.relevances.append(relevance)
            } else {
                self.leftOut += 1
            }
        }
        self.leftOut += max(0, attributes.count - Self.attributesMax)
    }

    /// Members that are not known are a provider's own.
    private static func relevance(_ attribute: JSONValue, _ schema: KindSchema) -> Suggestions.Relevance? {
        do {
            var object = try RequestObject(attribute)
            let (from, until) = (try object.instant("from"), try object.instant("to"))
            if let from, let until, from >= until { return nil }
            let configuration = try schema.configuration(from: object.value("configuration"))
            return Suggestions.Relevance(configuration, from: from, until: until)
        } catch {
            return nil
        }
    }

    /// The descriptions of a kind's recommendations, WidgetKit's `AppIntentRecommendation`; of several for one configuration
    /// the first.
    package static func descriptions(_ recommendations: JSONValue, _ schema: KindSchema) -> [Configuration: String] {
        guard case .array(let elements) = recommendations else { return [:] }
        var descriptions: [Configuration: String] = [:]
        for element in elements.prefix(Self.attributesMax) {
            guard case .string(let description)? = element["description"],
                let configuration = try? schema.configuration(from: element["configuration"]),
                descriptions[configuration] == nil
            else { continue }
            descriptions[configuration] = description
        }
        return descriptions
    }
}
