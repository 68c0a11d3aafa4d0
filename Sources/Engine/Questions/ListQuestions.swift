package import WidgetModel

/// A list that is read in parts, so that no question stops a partition for long. A row that exists all the time is
/// listed once.
package protocol EngineList: FieldCoded, Hashable, Sendable {
    associatedtype Row: ByteCoded & Sendable

    /// A part of the list. O(``ListPart/scanMax``), and the time that the listed rows take.
    func page(of engine: borrowing Engine, _ part: ListPart) -> ListPage<Row>
}

/// Which part of a list is asked for.
package struct ListPart: Sendable {
    /// Where it begins: the `next` of the part before; nil for the first.
    let place: UInt64?
    /// How many rows to list at most.
    let limit: Int
    /// How many rows to look at.
    var scanMax = Engine.rowsPerAnswer
}

/// A part of a list: the found rows, and where to continue.
package struct ListPage<Row: Sendable>: Sendable {
    package var rows: [Row]
    /// Where the next part begins; nil at the end of the list.
    package var next: UInt64?

    package init(rows: [Row] = [], next: UInt64? = nil) { (self.rows, self.next) = (rows, next) }

    /// The rows for some numbers of a table, in their order.
    ///
    /// - Parameters:
    ///   - end: All numbers of the table are below.
    ///   - row: The row of a number; nil if it is not on the list.
    init<Tag>(_ numbers: Range<Number<Tag>>, end: Int, limit: Int, _ row: (Number<Tag>) -> Row?) {
        self.init()
        var number = numbers.lowerBound
        while number < numbers.upperBound, self.rows.count < limit {
            if let row = row(number) { self.rows.append(row) }
            number = number.advanced(by: 1)
        }
        if number.index < end { self.next = UInt64(number.raw) }
    }
}

/// A part of a list.
package struct PageQuestion<List: EngineList>: EngineQuestion {
    package static var coding: some FieldCoding<Self> { Fields(Self.init, \.list, \.place, \.limit) }
    package let list: List
    /// Where it begins: the `next` of the part before; nil for the first.
    package let place: UInt64?
    /// The most rows.
    package let limit: Int

    package init(_ list: List, from place: UInt64? = nil, limit: Int) {
        (self.list, self.place, self.limit) = (list, place, max(0, limit))
    }

    package func answer(from engine: borrowing Engine) -> ListPage<List.Row> {
        self.list.page(of: engine, ListPart(place: self.place, limit: self.limit))
    }
}

extension Number {
    /// The number of the row at which a part of a list begins.
    init(place: UInt64?) { self.init(raw: UInt32(clamping: place ?? 0)) }
}
