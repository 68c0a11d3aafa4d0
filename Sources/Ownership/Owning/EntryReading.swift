import WidgetModel

/// Where the entries are that an owner applies next.
enum EntryReading {
    case idle
    /// They are asked for; the log was known to go so far then.
    case underWay(through: LogPosition)
    /// The log is away for now.
    case refused
}
