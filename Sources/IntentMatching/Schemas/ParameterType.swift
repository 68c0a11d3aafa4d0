package import WidgetModel

/// The type of a parameter of a kind's configuration, as an app declares it.
///
/// Raw values are part of the on-disk format.
package enum ParameterType: UInt8, ByteCoded, NamedCase {
    case string = 0
    /// Exact over the whole of `Int64`.
    case int = 1
    case double = 2
    case bool = 3
    /// A point in time, in JSON an RFC 3339 string with an offset.
    case date = 4
    /// One of the cases that the parameter lists, a string in JSON.
    case enumeration = 5
    /// The id of an app entity, a string in JSON.
    case entity = 6

    /// The name in a configuration file.
    package static let names = CaseNames<ParameterType>()

    /// A name for values of this type, for messages.
    package var phrase: String {
        switch self {
        case .string: "a string"
        case .int: "an integer"
        case .double: "a number"
        case .bool: "a boolean"
        case .date: "a date (an RFC 3339 string with an offset)"
        case .enumeration: "the name of a case (a string)"
        case .entity: "an entity id (a string)"
        }
    }

    /// Whether `value` is one of this type's scalars; an array never is.
    func holds(_ value: ParameterValue) -> Bool {
        switch (self, value) {
        case (.string, .string), (.enumeration, .string), (.entity, .string): true
        case (.int, .int), (.bool, .bool), (.date, .date): true
        case (.double, .double(let double)): double.isFinite
        default: false
        }
    }
}
