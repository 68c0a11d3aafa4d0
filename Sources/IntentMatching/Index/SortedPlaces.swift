import Storage

// Places in ascending numbers, and bits by place.

extension Span where Element: FixedWidthInteger & UnsignedInteger & BitwiseCopyable {
    /// The index of the first element that is not less, without a branch on the data.
    @inline(__always)
    func lowerBound(of element: Element) -> Int {
        var low = 0
        var length = self.count
        while length > 0 {
            let half = length / 2
            let isLess = self[low + half] < element
            low = isLess ? low + half + 1 : low
            length = isLess ? length - half - 1 : half
        }
        return low
    }

    /// The same where elements are spread evenly, as rows of a value are: begins where the element should be, and is there
    /// after two or three lines of the processor's cache, not one for each halving. O(log n) wherever it is.
    @inline(__always)
    func place(of element: Element) -> Int {
        guard self.count > 64 else { return self.lowerBound(of: element) }
        let first = self[0]
        let last = self[self.count - 1]
        guard element > first else { return 0 }
        guard element <= last else { return self.count }
        let share = UInt64(element - first) * UInt64(self.count - 1) / UInt64(last - first)
        var step = 16
        // The element is above all below `low`, and not above the one at `high`.
        var low = 0
        var high = self.count - 1
        var at = Int(share)
        if self[at] < element {
            while at < high, self[at] < element {
                low = at + 1
                at = Swift.min(high, at + step)
                step *= 2
            }
            high = at
        } else {
            while at > low, self[at] >= element {
                high = at
                at = Swift.max(low, at - step)
                step *= 2
            }
            if self[at] < element { low = at + 1 }
        }
        return low + self.extracting(low..<high).lowerBound(of: element)
    }
}

extension Column where Element: FixedWidthInteger & UnsignedInteger & BitwiseCopyable {
    /// Inserts into `count` ascending elements from `start` on; there is room for one more.
    @inline(__always)
    mutating func insert(_ element: Element, at start: Int, count: Int) {
        if self[start + count - 1] < element {
            self[start + count] = element
            return
        }
        let place = self.span.extracting(start..<start + count).place(of: element)
        self.move(from: start + place, to: start + place + 1, count: count - place)
        self[start + place] = element
    }

    /// Removes from `count` ascending elements from `start` on. Precondition: it is there.
    @inline(__always)
    mutating func remove(_ element: Element, from start: Int, count: Int) {
        let place = self.span.extracting(start..<start + count).place(of: element)
        precondition(place < count && self[start + place] == element, "the row is not on the list")
        self.move(from: start + place + 1, to: start + place, count: count - place - 1)
    }
}

extension [UInt64] {
    /// Sets or clears a bit.
    @inline(__always)
    mutating func mark(_ bit: Int, _ set: Bool) {
        if set {
            self[bit >> 6] |= 1 << UInt64(bit & 63)
        } else {
            self[bit >> 6] &= ~(1 << UInt64(bit & 63))
        }
    }
}
